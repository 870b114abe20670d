"""`tf.contrib.layers.separable_conv2d` and `conv2d_transpose`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontends.tf import nn
from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1.initializers.constants import Zeros
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.contrib.arg_scopes import add_arg_scope
from frontends.tf.contrib.convolutions import pair, pictures
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


@add_arg_scope
def separable_conv2d(
    inputs: TensorLike,
    num_outputs: int | None,
    kernel_size: int | Sequence[int],
    depth_multiplier: int = 1,
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: int | Sequence[int] = 1,
    activation_fn: Callable[..., Any] | None = nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Initializer = None,
    pointwise_initializer: Initializer = None,
    weights_regularizer: Regularizer = None,
    biases_initializer: Initializer = Zeros,
    biases_regularizer: Regularizer = None,
    reuse: bool | None = None,
    variables_collections: Collections = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
) -> Any:
    """Convolves each channel by itself, and mixes the channels at each place.

    Its variables are `depthwise_weights`, `pointwise_weights` and `biases`. See `conv2d` for what is not said here.

    Args:
        inputs: of shape (rows, height, width, channels), or with channels first.
        num_outputs: how many channels the result has; None leaves the mixing out, and `pointwise_weights`.
        kernel_size: height and width of the kernel, or one number for both.
        depth_multiplier: how many channels each one becomes before they are mixed.
        stride: of the steps, as `kernel_size`.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"` or `"NCHW"`.
        rate: distance of what the kernel multiplies.
        activation_fn: `tf.nn.relu`, if it is left out; None is linear.
        normalizer_fn: in place of biases.
        normalizer_params: its arguments, by name.
        weights_initializer: None is `xavier_initializer()`.
        pointwise_initializer: of `pointwise_weights`; None is `weights_initializer`.
        weights_regularizer: of both.
        biases_initializer: None leaves biases out.
        biases_regularizer: their penalty.
        reuse: see `tf.variable_scope`.
        variables_collections: as of `conv2d`; both weights are `"weights"`.
        outputs_collections: names of collections for the result, or one name.
        trainable: whether optimizers change the variables.
        scope: name, or scope; without one it is `SeparableConv2d`, numbered.

    Raises:
        ValueError: the inputs do not have four dimensions, `data_format` is unknown, or variables do not fit `reuse`.

    Source: `tf.contrib.layers.separable_conv2d`.
    """
    inputs, data_format = pictures("separable_conv2d", inputs, data_format)
    first = data_format == "NCHW"
    of_weights = (
        variables_collections.get("weights")
        if isinstance(variables_collections, Mapping)
        else variables_collections
    )
    initializer = weights_initializer or xavier_initializer()
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse):
        channels = inputs.shape[1 if first else -1]
        depthwise = layer_variable(
            "depthwise_weights",
            [*pair(kernel_size), channels, depth_multiplier],
            inputs.dtype,
            initializer,
            weights_regularizer,
            trainable,
            of_weights,
        )
        steps = [1, 1, *pair(stride)] if first else [1, *pair(stride), 1]
        dilations = pair(rate)
        if num_outputs is None:
            outputs = nn.depthwise_conv2d(inputs, depthwise, steps, padding, data_format, dilations)
        else:
            pointwise = layer_variable(
                "pointwise_weights",
                [1, 1, channels * depth_multiplier, num_outputs],
                inputs.dtype,
                pointwise_initializer or initializer,
                weights_regularizer,
                trainable,
                of_weights,
            )
            outputs = nn.separable_conv2d(
                inputs, depthwise, pointwise, steps, padding, data_format, dilations
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


@add_arg_scope
def conv2d_transpose(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
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
    """Goes from the result of a convolution to a picture that it may be of, as the gradient does.

    Its variables are `weights`, of shape (height, width, `num_outputs`, channels), and `biases`. See `conv2d` for what is not
    said here.

    Args:
        inputs: of shape (rows, height, width, channels), or with channels first.
        num_outputs: how many channels the result has.
        kernel_size: height and width of the kernel, or one number for both.
        stride: likewise; the result is so many times as high and wide.
        padding: `"SAME"`, or `"VALID"`, by which the result is larger by what the kernel exceeds the stride.
        data_format: `"NHWC"` or `"NCHW"`.
        activation_fn: `tf.nn.relu`, if it is left out; None is linear.
        normalizer_fn: in place of biases.
        normalizer_params: its arguments, by name.
        weights_initializer: None is `xavier_initializer()`.
        weights_regularizer: the penalty of the weights.
        biases_initializer: None leaves biases out.
        biases_regularizer: their penalty.
        reuse: see `tf.variable_scope`.
        variables_collections: as of `conv2d`.
        outputs_collections: names of collections for the result, or one name.
        trainable: whether optimizers change the variables.
        scope: name, or scope; without one it is `Conv2d_transpose`, numbered.

    Raises:
        ValueError: the inputs do not have four dimensions, `data_format` is unknown, or variables do not fit `reuse`.

    Source: `tf.contrib.layers.conv2d_transpose`.
    """
    inputs, data_format = pictures("conv2d_transpose", inputs, data_format)
    first = data_format == "NCHW"
    sizes, steps = pair(kernel_size), pair(stride)
    with variable_scope(scope, "Conv2d_transpose", [inputs], reuse=reuse):
        weights = layer_variable(
            "weights",
            [*sizes, num_outputs, inputs.shape[1 if first else -1]],
            inputs.dtype,
            weights_initializer or xavier_initializer(),
            weights_regularizer,
            trainable,
            variables_collections,
        )
        beyond = [max(size - step, 0) for size, step in zip(sizes, steps, strict=True)]
        outer = inputs.shape[2:] if first else inputs.shape[1:3]
        spread = [
            size * step + (more if padding.upper() == "VALID" else 0)
            for size, step, more in zip(outer, steps, beyond, strict=True)
        ]
        rows = inputs.shape[0]
        shape = [rows, num_outputs, *spread] if first else [rows, *spread, num_outputs]
        outputs = nn.conv2d_transpose(inputs, weights, shape, steps, padding, data_format)
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


separable_convolution2d = separable_conv2d
convolution2d_transpose = conv2d_transpose
