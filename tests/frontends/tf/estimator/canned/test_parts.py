"""What the arguments of canned estimators mean."""

import pytest

from frontends.tf.estimator.canned import parts
from frontends.tf.estimator.canned.heads import BinaryClassHead, MultiClassHead


def test_two_classes_have_one_logit():
    assert isinstance(parts.class_head(2, None, None, "sum"), BinaryClassHead)
    assert isinstance(parts.class_head(3, None, None, "sum"), MultiClassHead)


def test_learning_rates_are_tensorflows():
    many = ["column"] * 100
    assert parts.linear_only(many, "sum", "Ftrl").learning_rate == 0.2
    assert parts.linear_only(many, "sum", None).learning_rate == pytest.approx(0.1)
    assert parts.linear_part(many, "sum", "Ftrl").learning_rate == 0.005
    assert parts.linear_part(many * 1000, "sum", "Ftrl").learning_rate < 0.005
    assert parts.network_part([1], many, None, None, False, "Adagrad").learning_rate == 0.001
    assert parts.bias_only(None, "Ftrl").learning_rate == 0.3


def test_a_part_without_columns_is_left_out():
    assert parts.linear_part(None, "sum", "Ftrl") is None
    assert parts.network_part(None, [], None, None, False, "Adagrad") is None
    with pytest.raises(ValueError, match="Either linear_feature_columns"):
        parts.check_parts(None, None)
