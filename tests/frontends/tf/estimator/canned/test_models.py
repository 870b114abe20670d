"""Logits of features."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.canned.models import Bias, LinearModel, Network
from frontends.tf.graph import Graph, VariableStore
from tests.frontends.tf.estimator.canned.data import numbers

X = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
EVAL = tf.estimator.ModeKeys.EVAL


def _logits(model, features=None, units=1, mode=EVAL):
    store = VariableStore()
    with Graph(store).as_default() as graph, tf.compat.v1.variable_scope(model.scope):
        found = model.logits(features or {"x": X}, units, mode)
    values = {name: np.asarray(one.value()) for name, one in store.variables.items()}
    return np.asarray(found), values, graph


def test_a_linear_model_starts_at_zero():
    found, values, _ = _logits(LinearModel([numbers()]), units=3)
    assert found.tolist() == np.zeros((2, 3)).tolist()
    assert {name: one.shape for name, one in values.items()} == {
        "linear/linear_model/x/weights": (2, 3),
        "linear/linear_model/bias_weights": (3,),
    }


def test_a_network_is_layers_of_columns():
    found, values, _ = _logits(Network([4], [numbers()], np.tanh))
    hidden = np.tanh(X @ values["dnn/hiddenlayer_0/kernel"] + values["dnn/hiddenlayer_0/bias"])
    expected = hidden @ values["dnn/logits/kernel"] + values["dnn/logits/bias"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_summaries_are_collected_in_training_only():
    key, model = tf.compat.v1.GraphKeys.SUMMARIES, Network([4], [numbers()])
    _, _, graph = _logits(model)
    assert not graph.collections[key]
    _, _, graph = _logits(model, mode=tf.estimator.ModeKeys.TRAIN)
    names = [one.name for one in graph.collections[key]]
    assert "dnn/hiddenlayer_0/fraction_of_zero_values" in names
    assert "dnn/logits/activation" in names


def test_a_bias_is_the_same_for_all_rows():
    found, _, _ = _logits(Bias("w"), {"x": X, "w": X[:1]}, units=2)
    assert found.shape == (2, 2)
    with pytest.raises(ValueError, match="same number of rows"):
        _logits(Bias(), {"x": X, "w": X[:1]})
