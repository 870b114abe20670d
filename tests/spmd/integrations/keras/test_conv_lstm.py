"""ConvLSTM layers: Keras's numbers, by two convolutions in place of eight."""

from typing import Any

import jax
import keras
import numpy as np
import pytest

from spmd.integrations.keras import applied_patches, patch_keras

patch_keras()

LAYERS = {1: keras.layers.ConvLSTM1D, 2: keras.layers.ConvLSTM2D, 3: keras.layers.ConvLSTM3D}


def make(rank: int = 2, **options: Any) -> tuple[Any, Any]:
    """Makes a layer, and input with 3 channels at 4 times."""
    keras.utils.set_random_seed(0)
    layer = LAYERS[rank](5, 3, return_sequences=True, **options)
    places = (6, 7, 8)[:rank]
    first = layer.data_format == "channels_first"
    shape = (2, 4, 3, *places) if first else (2, 4, *places, 3)
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    layer.build(x.shape)
    for weight in layer.weights:
        weight.assign(np.random.default_rng(1).normal(size=weight.shape, scale=0.2))
    return layer, x


def gradients(layer: Any, x: Any) -> Any:
    """Returns outputs, and the gradients by input and weights."""

    def loss(x: Any, weights: Any) -> tuple[Any, Any]:
        others = [variable.value for variable in layer.non_trainable_variables]
        outputs, _ = layer.stateless_call(weights, others, x)
        return (outputs**2).sum(), outputs

    return jax.jit(jax.value_and_grad(loss, (0, 1), has_aux=True))(
        x, [weight.value for weight in layer.trainable_variables]
    )


@pytest.fixture
def keras_own(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts Keras's own method back."""
    (row,) = [row for row in applied_patches() if row.patch.name == "ConvLSTMCell.call"]
    return lambda: monkeypatch.setattr(row.patch.owner, "call", row.before)


@pytest.mark.parametrize(
    "options",
    [
        {"rank": 1},
        {"rank": 2, "padding": "same"},
        {"rank": 3, "padding": "same"},
        {"strides": 2, "padding": "valid"},
        {"dilation_rate": 2, "padding": "same"},
        {"use_bias": False},
        {"data_format": "channels_first"},
        {"activation": "relu", "recurrent_activation": "hard_sigmoid"},
        {"dropout": 0.5, "recurrent_dropout": 0.5},
        {"go_backwards": True},
    ],
    ids=str,
)
def test_numbers_and_gradients_are_those_of_keras(options: dict[str, Any], keras_own: Any) -> None:
    layer, x = make(**options)
    ours = gradients(layer, x)
    keras_own()
    theirs = gradients(layer, x)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def convolutions(layer: Any, x: Any, *, training: bool) -> int:
    weights, others = (
        [variable.value for variable in variables]
        for variables in (layer.trainable_variables, layer.non_trainable_variables)
    )
    program = jax.make_jaxpr(
        lambda x: layer.stateless_call(weights, others, x, training=training)[0]
    )(x)
    return str(program).count("= conv_general_dilated")


def test_gates_share_convolutions(keras_own: Any) -> None:
    layer, x = make()
    assert convolutions(layer, x, training=True) == 2
    keras_own()
    assert convolutions(layer, x, training=True) == 8


@pytest.mark.parametrize("name", ["dropout", "recurrent_dropout"])
def test_with_dropout_each_gate_sees_another_input(name: str, keras_own: Any) -> None:
    layer, x = make(**{name: 0.5}, seed=3)
    assert convolutions(layer, x, training=False) == 2
    drawn = np.asarray(layer(x, training=True))
    keras_own()
    layer, x = make(**{name: 0.5}, seed=3)
    np.testing.assert_allclose(layer(x, training=True), drawn, rtol=1e-5, atol=1e-6)


def test_half_precision() -> None:
    layer, x = make(dtype="mixed_bfloat16")
    assert layer(x).dtype == "bfloat16"
