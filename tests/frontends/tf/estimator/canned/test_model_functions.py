"""Model functions of heads and models."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.canned.heads import RegressionHead
from frontends.tf.estimator.canned.model_functions import combined_model_fn, model_fn_v2
from frontends.tf.estimator.canned.parts import linear_only, linear_part, network_part
from frontends.tf.graph import Graph, VariableStore
from tests.frontends.tf.estimator.canned.data import numbers

X = np.ones((2, 2), np.float32)
PREDICT = tf.estimator.ModeKeys.PREDICT


def test_logits_of_both_models_are_added():
    network = network_part([2], [numbers()], None, None, False, "SGD")
    linear = linear_part([numbers()], "sum", "SGD")
    found = {}
    for name, some in (
        ("both", (network, linear)),
        ("network", (network, None)),
        ("linear", (None, linear)),
    ):
        model_fn = combined_model_fn(RegressionHead(), *some, is_v1=False)
        tf.random.set_seed(1)
        with Graph(VariableStore()).as_default():
            spec = model_fn({"x": X}, None, PREDICT, None)
        found[name] = np.asarray(spec.predictions["predictions"])
    assert found["linear"].tolist() == [[0.0], [0.0]]
    assert found["both"].shape == found["network"].shape == (2, 1)


def test_features_must_be_by_key():
    model_fn = model_fn_v2(RegressionHead(), linear_only([numbers()], "sum", "SGD"))
    with pytest.raises(ValueError, match="features should be a dictionary"):
        model_fn(X, None, PREDICT, None)
