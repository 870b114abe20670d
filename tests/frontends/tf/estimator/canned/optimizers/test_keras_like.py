"""Optimizers of Keras in a model function."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.canned.optimizers.keras_like import KerasLikeOptimizer
from frontends.tf.estimator.canned.optimizers.rules import RULES
from frontends.tf.graph import Graph, VariableStore

v1 = tf.compat.v1


def _trained(*optimizers, gradient=(3.0, 4.0), steps=1):
    """Applies a gradient with each; returns the values of all variables by name."""
    store = VariableStore()
    for _ in range(steps):
        graph = Graph(store, tf.GradientTape())
        with graph.as_default():
            w = v1.get_variable("w", [2], initializer=tf.zeros_initializer())
            for optimizer in optimizers:
                graph.run(optimizer.apply_gradients([(jnp.array(gradient), w)]))
    return {name: np.asarray(one.value()) for name, one in store.variables.items()}


def test_settings_and_slots_are_variables():
    found = _trained(KerasLikeOptimizer(RULES["Adam"]({}), 0.1), steps=3)
    assert set(found) == {
        *("w", "training/Adam/iter", "training/Adam/learning_rate", "training/Adam/decay"),
        *("training/Adam/beta_1", "training/Adam/beta_2", "training/Adam/w/m"),
        "training/Adam/w/v",
    }
    assert found["training/Adam/iter"] == 3
    np.testing.assert_allclose(found["w"], [-0.3, -0.3], rtol=1e-4)


def test_two_have_names_of_their_own():
    found = _trained(*(KerasLikeOptimizer(RULES["SGD"]({}), rate) for rate in (0.1, 0.2)))
    assert found["training/SGD/learning_rate"] == np.float32(0.1)
    assert found["training/SGD_1/learning_rate"] == np.float32(0.2)


@pytest.mark.parametrize(
    ("clips", "expected"),
    [
        ({"clipnorm": 1.0}, [-0.6, -0.8]),
        ({"global_clipnorm": 1.0}, [-0.6, -0.8]),
        ({"clipvalue": 3.5}, [-3.0, -3.5]),
    ],
)
def test_gradients_are_clipped(clips, expected):
    found = _trained(KerasLikeOptimizer(RULES["SGD"]({}), 1.0, clips=clips))
    np.testing.assert_allclose(found["w"], expected, rtol=1e-6)


def test_the_rate_may_follow_the_step():
    found = _trained(KerasLikeOptimizer(RULES["SGD"]({}), lambda step: 1.0 / (1 + step)), steps=2)
    np.testing.assert_allclose(found["w"], [-4.5, -6.0], rtol=1e-6)
    found = _trained(KerasLikeOptimizer(RULES["SGD"]({}), 1.0, decay=1.0), steps=2)
    np.testing.assert_allclose(found["w"], [-4.5, -6.0], rtol=1e-6)
