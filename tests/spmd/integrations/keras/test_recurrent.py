"""Stateful recurrent layers: the same numbers as a loop by hand, on any number of replicas."""

from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd.integrations.keras import distribute_model, patch_keras

patch_keras()  # before a layer is made

MeshOf = Callable[[int], Mesh]
X = np.random.default_rng(0).normal(size=(8, 5, 3)).astype(np.float32)
LAYERS = [keras.layers.SimpleRNN, keras.layers.LSTM]


def make(layer: Any = keras.layers.SimpleRNN) -> Any:
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input(batch_shape=(4, 5, 3)), layer(6, stateful=True)])


def by_hand(model: Any, batches: Any) -> list[Any]:
    """Runs a SimpleRNN over batches, each with the states that the one before it left."""
    kernel, recurrent, bias = (np.asarray(v.value) for v in model.layers[0].trainable_variables)
    state, outputs = np.zeros((4, 6), np.float32), []
    for batch in batches:
        for t in range(batch.shape[1]):
            state = np.tanh(batch[:, t] @ kernel + bias + state @ recurrent)
        outputs.append(state)
    return outputs


@pytest.mark.parametrize("replicas", [None, 2, 4])
def test_predictions_go_on_where_the_batch_before_ended(
    mesh_of: MeshOf, replicas: int | None
) -> None:
    model = make()
    if replicas is not None:
        distribute_model(model, mesh_of(replicas))
    batches = [X[:4], X[4:], X[:4]]
    expected = by_hand(model, batches)
    np.testing.assert_allclose(
        model.predict(X, batch_size=4, verbose=0), np.concatenate(expected[:2]), rtol=1e-5
    )
    np.testing.assert_allclose(
        model.predict(X[:4], batch_size=4, verbose=0), expected[2], rtol=1e-5
    )
    np.testing.assert_allclose(model.layers[0].states[0].value, expected[2], rtol=1e-5)
    model.layers[0].reset_state()
    np.testing.assert_allclose(
        model.predict(X[:4], batch_size=4, verbose=0), expected[0], rtol=1e-5
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_replicas_train_as_one_device_does(mesh_of: MeshOf, layer: Any) -> None:
    def train(replicas: int) -> Any:
        model = distribute_model(make(layer), mesh_of(replicas))
        model.compile(keras.optimizers.SGD(0.1), "mse")
        target = np.ones((8, 6), np.float32)
        history = model.fit(X, target, batch_size=4, epochs=2, shuffle=False, verbose=0)
        states = [np.asarray(state.value) for state in model.layers[0].states]
        return history.history["loss"], [v.value for v in model.weights], states

    for one, other in zip(jax.tree.leaves(train(1)), jax.tree.leaves(train(2)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_a_step_by_hand(mesh_of: MeshOf) -> None:
    model = make()
    step = spmd.Step(lambda x: model(x), mesh_of(2))
    batches = [X[:4], X[4:]]
    expected = by_hand(model, batches)
    for batch, rows in zip(
        spmd.distribute(X, mesh_of(2), batch_size=4, prefetch=0), expected, strict=True
    ):
        found = np.concatenate([np.asarray(value) for value in step(batch)])
        np.testing.assert_allclose(found, rows, rtol=1e-5)
    assert model.layers[0].states[0].shape == (4, 6)


def test_weights_are_those_of_a_layer_without_states() -> None:
    model = make()
    assert [v.shape for v in model.weights] == [(3, 6), (6, 6), (6,)]
    assert len(make(keras.layers.LSTM).layers[0].non_trainable_variables) == 3  # and a seed


def test_rows_that_replicas_cannot_share_are_an_error(mesh_of: MeshOf) -> None:
    model = distribute_model(make(), mesh_of(8))
    with pytest.raises(spmd.errors.StateError, match=r"4 rows of a batch.*multiple of 8"):
        model.predict(X[:4], batch_size=4, verbose=0)
