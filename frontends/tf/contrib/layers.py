"""`tf.contrib.layers`: its initializers, regularizers and layers, and `optimize_loss`."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import nn
from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.compat.v1 import layers
from frontends.tf.compat.v1.initializers.base import FloatInitializer, truncated_normal
from frontends.tf.compat.v1.initializers.constants import Zeros
from frontends.tf.compat.v1.initializers.scaling import fans
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.contrib.arg_scopes import add_arg_scope
from frontends.tf.contrib.layer_variables import (
    Collections,
    Initializer,
    Scope,
    collected,
    layer_variable,
)
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.linalg import tensordot
from frontends.tf.ops.nn import l2_loss

_Regularizer = Callable[[TensorLike], jax.Array | None]
# What makes up for the truncation at two deviations.
_TRUNCATION = 1.3


class _Scaled(FloatInitializer):
    """Numbers of variance `factor / n`; see `variance_scaling_initializer`."""

    def __init__(
        self, factor: float, mode: str, uniform: bool, seed: int | None, dtype: DTypeLike
    ) -> None:
        super().__init__(seed, dtype)
        self._factor, self._mode, self._uniform = factor, mode, uniform

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        inputs, outputs = fans(shape)
        count = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2}
        variance = self._factor / count[self._mode]
        if self._uniform:
            limit = math.sqrt(3 * variance)
            return self._generator().uniform(-limit, limit, shape)
        return truncated_normal(self._generator(), shape, 0.0, math.sqrt(_TRUNCATION * variance))


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DTypeLike = jnp.float32,
) -> Any:
    """Makes an initializer of variance `factor / n`, where `n` counts inputs, outputs, or the mean of the two.

    Args:
        factor: 2 for layers with `relu`.
        mode: `"FAN_IN"`, `"FAN_OUT"` or `"FAN_AVG"`.
        uniform: whether to draw uniformly, or normal numbers within two deviations.
        seed: makes the numbers the same at each call.
        dtype: of the numbers.

    Raises:
        ValueError: there is no such mode.

    Source: `tf.contrib.layers.variance_scaling_initializer`.
    """
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise ValueError(
            f"Unknown mode {mode}: expected one of FAN_IN, FAN_OUT, FAN_AVG. Write mode='FAN_IN'."
        )
    return _Scaled(factor, mode, uniform, seed, dtype)


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DTypeLike = jnp.float32
) -> Any:
    """Makes Glorot's initializer: variance `2 / (inputs + outputs)`; see `variance_scaling_initializer`.

    Source: `tf.contrib.layers.xavier_initializer`.
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def l1_regularizer(scale: float, scope: object = None) -> _Regularizer:
    """Makes the penalty `scale * sum(|weights|)`; of 0 there is none.

    Raises:
        ValueError: the scale is negative, or an integer.

    Source: `tf.contrib.layers.l1_regularizer`.
    """
    scale = _checked(scale)
    if not scale:
        return _nothing
    return lambda weights: scale * jnp.sum(jnp.abs(convert_to_tensor(weights)))


def l2_regularizer(scale: float, scope: object = None) -> _Regularizer:
    """Makes the penalty `scale * sum(weights ** 2) / 2`; of 0 there is none.

    Raises:
        ValueError: the scale is negative, or an integer.

    Source: `tf.contrib.layers.l2_regularizer`.
    """
    scale = _checked(scale)
    return (lambda weights: scale * l2_loss(weights)) if scale else _nothing


def l1_l2_regularizer(
    scale_l1: float = 1.0, scale_l2: float = 1.0, scope: object = None
) -> _Regularizer:
    """Makes the sum of the two penalties.

    Raises:
        ValueError: a scale is negative, or an integer.

    Source: `tf.contrib.layers.l1_l2_regularizer`.
    """
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)])


def sum_regularizer(
    regularizer_list: Sequence[_Regularizer | None], scope: object = None
) -> _Regularizer:
    """Makes the sum of penalties; None is left out.

    Source: `tf.contrib.layers.sum_regularizer`.
    """

    def total(weights: TensorLike) -> jax.Array | None:
        found = [one(weights) for one in regularizer_list if one is not None]
        return (
            jnp.sum(jnp.stack(given))
            if (given := [one for one in found if one is not None])
            else None
        )

    return total


@add_arg_scope
def fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Callable[..., Any] | None = nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Initializer = None,
    weights_regularizer: _Regularizer | None = None,
    biases_initializer: Initializer = Zeros,
    biases_regularizer: _Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: Collections = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
) -> Any:
    """Multiplies the last dimension by a matrix; its variables are `weights` and `biases`, where `tf.layers.dense` has others.

    Args:
        inputs: of shape (..., inputs).
        num_outputs: size of the last dimension of the result.
        activation_fn: `tf.nn.relu`, if it is left out; None is linear.
        normalizer_fn: in place of biases.
        normalizer_params: its arguments, by name.
        weights_initializer: None is `xavier_initializer()`.
        weights_regularizer: its penalty goes to the collection `tf.GraphKeys.REGULARIZATION_LOSSES`.
        biases_initializer: None leaves biases out.
        biases_regularizer: as that of the weights.
        reuse: see `tf.variable_scope`.
        variables_collections: names of collections for the variables, or a dict with them by `"weights"` and `"biases"`.
        outputs_collections: names of collections for the result, or one name.
        trainable: whether optimizers change the variables.
        scope: name, or scope; without one it is `fully_connected`, numbered.

    Returns:
        Array of shape (..., num_outputs).

    Source: `tf.contrib.layers.fully_connected`.
    """
    inputs = convert_to_tensor(inputs)
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse):
        weights = layer_variable(
            "weights",
            [inputs.shape[-1], num_outputs],
            inputs.dtype,
            weights_initializer or xavier_initializer(),
            weights_regularizer,
            trainable,
            variables_collections,
        )
        outputs = tensordot(inputs, weights, 1)
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        elif biases_initializer is not None:
            biases = layer_variable(
                "biases",
                [num_outputs],
                inputs.dtype,
                biases_initializer,
                biases_regularizer,
                trainable,
                variables_collections,
            )
            outputs = nn.bias_add(outputs, biases)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
    return collected(outputs, outputs_collections)


def _checked(scale: float) -> float:
    if isinstance(scale, int):
        raise ValueError(f"scale cannot be an integer: {scale}. Write {float(scale)}.")
    if scale < 0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}. Write 0.01.")
    return scale


def _nothing(weights: TensorLike) -> None:
    """Penalizes nothing."""


_BORROWED = {
    **dict.fromkeys(
        ("avg_pool2d", "conv2d", "convolution2d", "max_pool2d"), "frontends.tf.contrib.convolutions"
    ),
    **dict.fromkeys(
        (
            *("conv2d_transpose", "convolution2d_transpose", "separable_conv2d"),
            "separable_convolution2d",
        ),
        "frontends.tf.contrib.more_convolutions",
    ),
    **dict.fromkeys(("repeat", "stack"), "frontends.tf.contrib.repeating"),
    **dict.fromkeys(("batch_norm", "layer_norm"), "frontends.tf.contrib.normalization"),
    **dict.fromkeys(
        ("dropout", "embed_sequence", "one_hot_encoding", "softmax"),
        "frontends.tf.contrib.small_layers",
    ),
    "optimize_loss": "frontends.tf.contrib.optimize_loss",
}
__getattr__, __dir__ = attributes(
    "tf.contrib.layers",
    {
        **defined_in(__name__),
        "flatten": layers.flatten,
        "linear": partial(fully_connected, activation_fn=None),
        "relu": partial(fully_connected, activation_fn=nn.relu),
    },
    borrowed=_BORROWED,
)
