"""A layer that asks for the value of a traced array ends in JAX's error, which names the line."""

import jax
import keras
import numpy as np
import pytest

import spmd  # noqa: F401


class _Asks(keras.layers.Layer):
    def call(self, x):
        return x * np.asarray(x).max()


def test_a_value_of_a_traced_array_is_the_error_of_jax():
    layer = _Asks()
    with pytest.raises(jax.errors.TracerArrayConversionError, match=r"numpy\.ndarray conversion"):
        jax.jit(layer)(np.ones(3, np.float32))


def test_other_errors_tell_of_the_layer_still():
    class Fails(keras.layers.Layer):
        def call(self, x):
            raise ValueError("mine")

    with pytest.raises(ValueError, match="when calling Fails") as caught:
        Fails()(np.ones(3, np.float32))
    assert "mine" in str(caught.value)
