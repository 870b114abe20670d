"""Losses of Keras in steps of the engine."""

import keras
import numpy as np
import pytest

import spmd
from spmd.integrations.keras import distribute_model

X = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)
Y = (X @ [[1.0], [2.0], [3.0]] + 0.5).astype(np.float32)


def model():
    keras.utils.set_random_seed(0)
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, kernel_regularizer="l2")])
    made.compile("sgd", "mse")
    return made


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_step_of_a_compiled_model_gives_what_keras_alone_gives(mesh_of, replicas):
    """The last batch has 3 rows."""
    alone, ours, mesh = model(), model(), mesh_of(replicas)
    expected = alone.fit(X, Y, batch_size=8, shuffle=False, verbose=0).history["loss"]
    step = spmd.Step(lambda batch: ours.train_step(batch), mesh)
    for batch in spmd.distribute((X, Y), mesh, batch_size=8):
        step(batch)
    assert float(ours.get_metrics_result()["loss"]) == pytest.approx(expected[0], rel=1e-5)
    for one, other in zip(ours.weights, alone.weights, strict=True):
        np.testing.assert_allclose(one.value, other.value, rtol=1e-5)


class Penalized(keras.layers.Layer):
    """Adds a loss while it is called."""

    def call(self, x):
        self.add_loss(keras.ops.mean(keras.ops.square(x)))
        return x


def test_added_losses_count_once_each_time_a_step_is_traced(mesh_of):
    """A loss may get the address, and with it the `id`, of one of a trace before."""
    made = keras.Sequential([keras.Input((3,)), *(Penalized() for _ in range(40))])
    made.compile(loss="mse")
    distribute_model(made, mesh_of(2))
    expected = 40 * np.mean(np.square(X[:8]))
    for _ in range(4):
        made.make_test_function(force=True)
        loss = made.evaluate(X[:8], X[:8], verbose=0)
        assert loss == pytest.approx(expected, rel=1e-5)
