"""Convolutions and pooling along any number of axes: what `tf.nn` and `tf.layers` share.

A *window* slides along the spatial axes. A *data format* names each axis by a letter, N for the rows and C for the
channels: `"NHWC"`, `"NCW"`, `"NDHWC"`.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import ShapeLike
from frontends.tf.ops.convert import known

Padding = str | Sequence[Sequence[int]]


def convolution(
    x: jax.Array,
    kernel: jax.Array,
    strides: ShapeLike,
    padding: Padding,
    data_format: str,
    dilations: ShapeLike = None,
) -> jax.Array:
    """Convolves with a kernel of shape `[*window, channels in, channels out]`.

    With fewer channels in the kernel than in `x`, these are groups, each with its own part of the channels out.

    Args:
        x: images or the like.
        kernel: the weights.
        strides: a number, one for each spatial axis, or one for each axis.
        padding: `"SAME"`, `"VALID"`, or sizes before and after each axis.
        data_format: of `x` and the result.
        dilations: distances between the elements of a window, in the form of `strides`.
    """
    if x.ndim != len(data_format) or kernel.ndim != len(data_format):
        raise ValueError(
            f"A convolution takes an input of {len(data_format)} axes, {data_format}, and a filter of as many, [*window, channels in, "
            f"channels out], but got the shapes {x.shape} and {kernel.shape}. Give the filter as a tensor, and reshape the "
            "input: tf.reshape(x, [-1, height, width, channels])."
        )
    if x.shape[data_format.index("C")] % kernel.shape[-2]:
        raise ValueError(
            f"The input of a convolution, of shape {x.shape}, has {x.shape[data_format.index('C')]} channels ({data_format}), but the filter of "
            f"shape {kernel.shape} takes {kernel.shape[-2]}, the last but one of its sizes."
        )
    return jax.lax.conv_general_dilated(
        x,
        kernel,
        _spatial(strides, data_format),
        _padding(padding, data_format),
        rhs_dilation=_spatial(1 if dilations is None else dilations, data_format),
        dimension_numbers=(data_format, _kernel_format(data_format), data_format),
        feature_group_count=x.shape[data_format.index("C")] // kernel.shape[-2],
    )


def transposed_convolution(
    x: jax.Array, kernel: jax.Array, strides: ShapeLike, padding: str, data_format: str
) -> jax.Array:
    """Goes from the result of a convolution to its input, as the gradient does.

    Args:
        x: what a convolution may give.
        kernel: shape `[*window, channels out, channels in]`; the last is the number of channels of `x`.
        strides: see `convolution`.
        padding: `"SAME"` or `"VALID"`.
        data_format: see `convolution`.
    """
    return jax.lax.conv_transpose(
        x,
        kernel,
        _spatial(strides, data_format),
        padding,
        dimension_numbers=(data_format, _kernel_format(data_format), data_format),
        transpose_kernel=True,
    )


def lowest(dtype: np.dtype[Any]) -> Any:
    """Returns the number of a dtype than which none is smaller."""
    least = -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min
    return np.asarray(least, dtype)[()]


def max_pool(
    x: jax.Array,
    size: ShapeLike,
    strides: ShapeLike,
    padding: Padding,
    data_format: str,
    dilations: ShapeLike = 1,
) -> jax.Array:
    """Takes the largest number of each window."""
    window = _window(size, strides, padding, data_format, dilations)
    return jax.lax.reduce_window(x, lowest(x.dtype), jax.lax.max, *window)


def avg_pool(
    x: jax.Array,
    size: ShapeLike,
    strides: ShapeLike,
    padding: Padding,
    data_format: str,
    dilations: ShapeLike = 1,
) -> jax.Array:
    """Takes the mean of each window, padding left out."""
    window = _window(size, strides, padding, data_format, dilations)
    zero = np.zeros((), x.dtype)[()]
    total = jax.lax.reduce_window(x, zero, jax.lax.add, *window)
    return total / jax.lax.reduce_window(jnp.ones_like(x), zero, jax.lax.add, *window)


def _kernel_format(data_format: str) -> str:
    return "".join(axis for axis in data_format if axis not in "NC") + "IO"


def _spatial_axes(data_format: str) -> list[int]:
    return [index for index, axis in enumerate(data_format) if axis not in "NC"]


def _window(
    size: ShapeLike, strides: ShapeLike, padding: Padding, data_format: str, dilations: ShapeLike
) -> Any:
    """Makes the sizes, strides, padding and dilations, of the array (none) and of a window, over all axes."""
    pads = _padding(padding, data_format)
    sizes, steps, gaps = (
        _everywhere(_spatial(one, data_format), 1, data_format)
        for one in (size, strides, dilations)
    )
    pads = pads if isinstance(pads, str) else _everywhere(pads, (0, 0), data_format)
    return sizes, steps, pads, None, gaps


def _everywhere(spatial: Sequence[Any], elsewhere: Any, data_format: str) -> tuple[Any, ...]:
    of_axis = dict(zip(_spatial_axes(data_format), spatial, strict=True))
    return tuple(of_axis.get(axis, elsewhere) for axis in range(len(data_format)))


def _spatial(sizes: ShapeLike, data_format: str) -> tuple[int, ...]:
    """Reads a number, one for each spatial axis, or one for each axis."""
    axes = _spatial_axes(data_format)
    each = [int(size) for size in np.ravel(known(sizes))]
    if len(each) == len(data_format):
        each = [each[axis] for axis in axes]
    return tuple(each * len(axes) if len(each) == 1 else each)


def _padding(padding: Padding, data_format: str) -> Any:
    if isinstance(padding, str):
        return padding.upper()
    pairs = [tuple(int(size) for size in pair) for pair in padding]
    return tuple(pairs[axis] for axis in _spatial_axes(data_format))
