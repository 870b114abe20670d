"""What to read from examples for canned estimators."""

import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import numbers, words


def test_features_labels_and_weights_are_read():
    found = tf.estimator.classifier_parse_example_spec(
        [numbers(), words()], "y", label_dtype=tf.string, weight_column="w"
    )
    assert set(found) == {"x", "side", "y", "w"}
    assert found["y"] == tf.io.FixedLenFeature((1,), tf.string, None)
    of_numbers = tf.compat.v1.estimator.regressor_parse_example_spec(
        [numbers()], "y", label_dimension=3
    )
    assert of_numbers["y"] == tf.io.FixedLenFeature((3,), tf.float32, None)


def test_labels_and_weights_are_no_features():
    make = tf.estimator.classifier_parse_example_spec
    with pytest.raises(ValueError, match="label should not be used as feature"):
        make([numbers()], "x")
    with pytest.raises(ValueError, match="weight_column should not be used as feature"):
        make([numbers()], "y", weight_column="x")
    with pytest.raises(ValueError, match="numeric_column"):
        make([numbers()], "y", weight_column=words())
