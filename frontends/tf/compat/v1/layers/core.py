"""Layers of any input: `Dense`, `Dropout`, `Flatten`."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.compat.v1.layers.affine import ZEROS, AffineLayer, Weight
from frontends.tf.compat.v1.layers.arguments import axes_of
from frontends.tf.compat.v1.layers.base import Layer
from frontends.tf.compat.v1.layers.functional import functional
from frontends.tf.compat.v1.layers.input_spec import InputSpec
from frontends.tf.ops import nn
from frontends.tf.ops.convert import convert_to_tensor, known


class Dense(AffineLayer):
    """Multiplies the last axis with a matrix: `activation(x @ kernel + bias)`.

    Attributes:
        kernel: shape `[size of the last axis, units]`; None before the first call.

    Source: `tf.compat.v1.layers.Dense`.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            units: size of the output's last axis.
            activation: a function of the output, or its name; None leaves it as it is.
            use_bias: whether to add a bias.
            kernel_initializer: see `Layer.add_weight`; None takes that of the variable scope, else Glorot's.
            bias_initializer: likewise.
            kernel_regularizer: see `Layer.add_weight`.
            bias_regularizer: likewise.
            activity_regularizer: see `Layer`.
            kernel_constraint: see `Layer.add_weight`.
            bias_constraint: likewise.
            trainable: see `Layer`.
            name: see `Layer`.
            **kwargs: for `Layer`.
        """
        bias = Weight(bias_initializer, bias_regularizer, bias_constraint) if use_bias else None
        super().__init__(activation, bias, activity_regularizer, trainable, name, **kwargs)
        self.input_spec = InputSpec(min_ndim=2, floating=True)
        self.units = int(units)
        self.kernel: Any = None
        self._kernel = Weight(kernel_initializer, kernel_regularizer, kernel_constraint)

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias."""
        size = input_shape[-1]
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size}, floating=True)
        self.kernel = self._add("kernel", [size, self.units], self._kernel)
        self._add_bias(self.units)

    def call(self, inputs: Any) -> Any:
        """Computes the output, of the shape of the input but for its last axis."""
        return self._finished(jnp.dot(inputs, convert_to_tensor(self.kernel)))


dense = functional(Dense, __name__, "dense")


class Dropout(Layer):
    """Zeroes a fraction of the elements in training, and scales up the rest.

    Source: `tf.compat.v1.layers.Dropout`.
    """

    def __init__(
        self,
        rate: float = 0.5,
        noise_shape: ShapeLike = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            rate: the fraction, from 0 to below 1.
            noise_shape: of what is drawn; size 1 keeps or drops all along an axis, None is the input's.
            seed: makes the numbers those of every run; calls and replicas draw different ones all the same.
            name: see `Layer`.
            **kwargs: for `Layer`.
        """
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.input_spec = InputSpec()

    def call(self, inputs: Any, training: TensorLike = False) -> Any:
        """Drops elements if `training` is true, a Python value or a scalar tensor.

        Raises:
            ValueError: the rate is not in [0, 1), or the input not of floating-point numbers.
        """
        return in_training(
            training,
            lambda: nn.dropout(inputs, self.rate, self.noise_shape, self.seed),
            lambda: inputs,
        )


def in_training(
    training: TensorLike, true: Callable[[], jax.Array], false: Callable[[], jax.Array]
) -> jax.Array:
    """Calls one of two functions; both, if only the running program knows which."""
    chosen = known_truth(training)
    if isinstance(chosen, bool):
        return true() if chosen else false()
    return jnp.where(chosen, true(), false())


def known_truth(value: TensorLike) -> Any:
    """Returns a truth value as Python's, or as an array if only the running program knows it."""
    value = known(value)
    return value.astype(bool) if isinstance(value, Tracer) else bool(value)


def dropout(
    inputs: TensorLike,
    rate: float = 0.5,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    training: TensorLike = False,
    name: str | None = None,
) -> Any:
    """Makes a layer and calls it; see `Dropout`. Without `training=True` it returns the input.

    Source: `tf.compat.v1.layers.dropout`.
    """
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


class Flatten(Layer):
    """Makes one axis of all but the first.

    Source: `tf.compat.v1.layers.Flatten`.
    """

    def __init__(self, data_format: str = "channels_last", **kwargs: Any) -> None:
        """Makes the layer; with `"channels_first"`, channels are moved to the end first.

        Raises:
            ValueError: `data_format` is something else.
        """
        super().__init__(**kwargs)
        self._channels_first = axes_of(data_format, 1) == "NCW"
        self.input_spec = InputSpec()

    def call(self, inputs: Any) -> Any:
        """Returns an array `[rows, elements of a row]`."""
        if self._channels_first and inputs.ndim > 1:
            inputs = jnp.moveaxis(inputs, 1, -1)
        return inputs.reshape(inputs.shape[0], math.prod(inputs.shape[1:]))


def flatten(inputs: TensorLike, name: str | None = None, data_format: str = "channels_last") -> Any:
    """Makes a layer and calls it; see `Flatten`.

    Source: `tf.compat.v1.layers.flatten`.
    """
    return Flatten(data_format, name=name)(inputs)
