"""`tf.contrib.layers.conv2d` and the layers that pool."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from frontends.tf import nn
from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1 import layers
from frontends.tf.compat.v1.initializers.constants import Zeros
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.contrib.arg_scopes import add_arg_scope
from frontends.tf.contrib.layer_endings import Ending
from frontends.tf.contrib.layer_variables import (
    Collections,
    Initializer,
    Regularizer,
    Scope,
    collected,
    layer_variable,
)
from frontends.tf.contrib.layers import xavier_initializer
from frontends.tf.ops.convert import convert_to_tensor


@add_arg_scope
def conv2d(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: int | Sequence[int] = 1,
    activation_fn: Callable[..., Any] | None = nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Initializer = None,
    weights_regularizer: Regularizer = None,
    biases_initializer: Initializer = Zeros,
    biases_regularizer: Regularizer = None,
    reuse: bool | None = None,
    variables_collections: Collections = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
) -> Any:
    """Convolves pictures; its variables are `weights` and `biases`, where `tf.layers.conv2d` has others.

    Args:
        inputs: of shape (rows, height, width, channels), or with channels first.
        num_outputs: how many channels the result has.
        kernel_size: height and width of the kernel, or one number for both.
        stride: likewise, of the steps.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"`, also if it is None, or `"NCHW"`.
        rate: distance of what the kernel multiplies.
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
        scope: name, or scope; without one it is `Conv`, numbered.

    Raises:
        ValueError: the inputs do not have four dimensions, `data_format` is unknown, or variables do not fit `reuse`.

    Source: `tf.contrib.layers.conv2d`.
    """
    inputs, data_format = pictures("conv2d", inputs, data_format)
    first = data_format == "NCHW"
    with variable_scope(scope, "Conv", [inputs], reuse=reuse):
        channels = inputs.shape[1 if first else -1]
        weights = layer_variable(
            "weights",
            [*pair(kernel_size), channels, num_outputs],
            inputs.dtype,
            weights_initializer or xavier_initializer(),
            weights_regularizer,
            trainable,
            variables_collections,
        )
        outputs = nn.conv2d(
            inputs,
            weights,
            strides=pair(stride),
            padding=padding,
            data_format=data_format,
            dilations=pair(rate),
        )
        ending = Ending(
            activation_fn,
            normalizer_fn,
            normalizer_params,
            biases_initializer,
            biases_regularizer,
            trainable,
            variables_collections,
        )
        outputs = ending.of(outputs, data_format)
    return collected(outputs, outputs_collections)


convolution2d = conv2d


@add_arg_scope
def max_pool2d(
    inputs: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Collections = None,
    scope: Scope = None,
) -> Any:
    """Takes the largest values of windows.

    Args:
        inputs: of shape (rows, height, width, channels), or with channels first.
        kernel_size: height and width of a window, or one number for both.
        stride: likewise, of the steps.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"` or `"NCHW"`.
        outputs_collections: names of collections for the result, or one name.
        scope: accepted, and not used.

    Source: `tf.contrib.layers.max_pool2d`.
    """
    outputs = layers.max_pooling2d(inputs, kernel_size, stride, padding, _format(data_format))
    return collected(outputs, outputs_collections)


@add_arg_scope
def avg_pool2d(
    inputs: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Collections = None,
    scope: Scope = None,
) -> Any:
    """Averages windows; see `max_pool2d`.

    Source: `tf.contrib.layers.avg_pool2d`.
    """
    outputs = layers.average_pooling2d(inputs, kernel_size, stride, padding, _format(data_format))
    return collected(outputs, outputs_collections)


def pictures(layer: str, inputs: TensorLike, data_format: str | None) -> tuple[jax.Array, str]:
    """Makes an array of a layer's pictures, and tells where their channels are.

    Raises:
        ValueError: they do not have four dimensions, or the format is unknown.
    """
    array = convert_to_tensor(inputs)
    if array.ndim != 4:
        raise ValueError(
            f"{layer}: Convolution expects input with rank 4, got shape {array.shape}. Write tf.expand_dims, or tf.reshape."
        )
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(f"{layer}: Invalid data_format: {data_format!r}. Write 'NHWC' or 'NCHW'.")
    return array, data_format or "NHWC"


def pair(size: int | Sequence[int]) -> list[int]:
    """Makes a size for both axes of one number, or of two."""
    return [int(size), int(size)] if isinstance(size, int) else [int(one) for one in size]


def _format(data_format: str) -> str:
    return "channels_first" if data_format == "NCHW" else "channels_last"
