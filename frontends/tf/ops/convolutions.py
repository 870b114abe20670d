"""Functions of `tf.nn` that convolve in other ways than `conv2d`."""

import jax
import jax.numpy as jnp

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.ops import windows
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.sliding import conv_transpose


def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: ShapeLike,
    padding: windows.Padding,
    data_format: str = "NWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Convolves sequences with filters of shape `[width, channels in, channels out]`."""
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    form = {"NHWC": "NWC", "NCHW": "NCW"}.get(data_format or "NWC", data_format or "NWC")
    return windows.convolution(x, kernel, stride, padding, form, dilations)


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str | None = "NHWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Convolves each channel by itself, with filters of shape `[height, width, channels, multiplier]`."""
    x, kernel = convert_to_tensor(input), convert_to_tensor(filter)
    kernel = kernel.reshape(*kernel.shape[:2], 1, -1)
    return windows.convolution(x, kernel, strides, padding, data_format or "NHWC", dilations)


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str | None = "NHWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Convolves each channel by itself, and then mixes the channels with a filter of one pixel."""
    form = data_format or "NHWC"
    each = depthwise_conv2d(input, depthwise_filter, strides, padding, form, dilations)
    return windows.convolution(each, convert_to_tensor(pointwise_filter), 1, "VALID", form)


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding = "SAME",
    data_format: str = "NHWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Goes from the result of `conv2d` to its input, as the gradient does.

    Args:
        input: what a convolution may give.
        filters: shape `[height, width, channels out, channels in]`; the last is the number of channels of `input`.
        output_shape: of the result; four numbers, or height and width.
        strides: of the convolution.
        padding: likewise.
        data_format: `"NHWC"` or `"NCHW"`.
        dilations: of the convolution.
    """
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


def conv3d(
    input: TensorLike,
    filters: TensorLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str = "NDHWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Convolves volumes with filters of shape `[depth, height, width, channels in, channels out]`."""
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    return windows.convolution(x, kernel, strides, padding, data_format, dilations)


def atrous_conv2d(
    value: TensorLike,
    filters: TensorLike,
    rate: int,
    padding: windows.Padding,
    name: str | None = None,
) -> jax.Array:
    """Convolves images with filters whose elements lie `rate` pixels apart."""
    x, kernel = convert_to_tensor(value), jnp.asarray(convert_to_tensor(filters))
    return windows.convolution(x, kernel, 1, padding, "NHWC", rate)
