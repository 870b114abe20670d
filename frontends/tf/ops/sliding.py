"""Functions of `tf.nn` that slide windows in any number of axes: pooling, convolutions and morphology."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops import windows
from frontends.tf.ops.convert import convert_to_tensor, known, static_shape

_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def _format(data_format: str | None, spatial: int) -> str:
    """Names the axes; scripts may name those of another number of them, `"NHWC"` of sequences."""
    last = (data_format or "N..C").endswith("C")
    channels_last = _FORMATS[spatial]
    return channels_last if last else f"NC{channels_last[1:-1]}"


def max_pool1d(
    input: TensorLike,
    ksize: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str = "NWC",
    name: str | None = None,
) -> jax.Array:
    """Takes the largest number of each window of sequences.

    Source: `tf.nn.max_pool1d`.
    """
    return windows.max_pool(
        convert_to_tensor(input), ksize, strides, padding, _format(data_format, 1)
    )


def avg_pool1d(
    input: TensorLike,
    ksize: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str = "NWC",
    name: str | None = None,
) -> jax.Array:
    """Takes the mean of each window of sequences, padding left out.

    Source: `tf.nn.avg_pool1d`.
    """
    return windows.avg_pool(
        convert_to_tensor(input), ksize, strides, padding, _format(data_format, 1)
    )


def max_pool3d(
    input: TensorLike,
    ksize: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> jax.Array:
    """Takes the largest number of each window of volumes.

    Source: `tf.nn.max_pool3d`.
    """
    return windows.max_pool(
        convert_to_tensor(input), ksize, strides, padding, _format(data_format, 3)
    )


def avg_pool3d(
    input: TensorLike,
    ksize: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> jax.Array:
    """Takes the mean of each window of volumes, padding left out.

    Source: `tf.nn.avg_pool3d`.
    """
    return windows.avg_pool(
        convert_to_tensor(input), ksize, strides, padding, _format(data_format, 3)
    )


def pool(
    input: TensorLike,
    window_shape: ShapeLike,
    pooling_type: str,
    strides: ShapeLike = None,
    padding: windows.Padding = "VALID",
    data_format: str | None = None,
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Takes the largest number or the mean of each window, in one to three axes.

    Args:
        input: sequences, images or volumes.
        window_shape: of the spatial axes.
        pooling_type: `"MAX"` or `"AVG"`.
        strides: of the spatial axes; None means 1.
        padding: `"SAME"`, `"VALID"`, or sizes before and after each axis.
        data_format: with C last, or behind N.
        dilations: distances between the entries of a window; None means 1.

    Raises:
        ValueError: `pooling_type` is another word.

    Source: `tf.nn.pool`.
    """
    x = convert_to_tensor(input)
    form = _format(data_format, x.ndim - 2)
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be either AVG or MAX. Received: {pooling_type}.")
    function = windows.max_pool if pooling_type == "MAX" else windows.avg_pool
    steps, gaps = (1 if one is None else one for one in (strides, dilations))
    return function(x, window_shape, steps, padding, form, gaps)


def max_pool_with_argmax(
    input: TensorLike,
    ksize: ShapeLike,
    strides: ShapeLike,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: DTypeLike = "int64",
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Takes the largest number of each window of images, and tells where it was.

    Args:
        input: images, NHWC.
        ksize: size of a window.
        strides: from one window to the next.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"`.
        output_dtype: of the places.
        include_batch_in_index: whether the places of an image go on where those of the one before it end.

    Returns:
        The numbers, and their places in the image, `(row * width + column) * channels + channel`. A NaN is taken only
        where a window begins with it.

    Source: `tf.nn.max_pool_with_argmax`.
    """
    x = convert_to_tensor(input)
    rows, height, width, channels = x.shape
    places = jnp.arange(height * width * channels, dtype=jnp.int32).reshape(1, height, width, -1)
    if include_batch_in_index:
        places = places + jnp.arange(rows, dtype=jnp.int32)[:, None, None, None] * places.size
    places = jnp.broadcast_to(places, x.shape)
    floating = jnp.issubdtype(x.dtype, jnp.floating)
    lowest = windows.lowest(x.dtype)

    def larger(one: Any, other: Any) -> Any:
        # Of equal numbers, the first one's place.
        first = (one[0] > other[0]) | ((one[0] == other[0]) & (one[1] < other[1]))
        return tuple(jnp.where(first, *pair) for pair in zip(one, other, strict=True))

    beyond = np.int32(np.iinfo(np.int32).max)
    start = lowest, beyond
    sizes, steps = (
        (1, *(each if len(each) == 2 else each[1:3] if len(each) == 4 else each * 2), 1)
        for each in map(static_shape, (ksize, strides))
    )
    window = sizes, steps, padding.upper()
    known = jax.lax.stop_gradient(x)
    known = jnp.where(jnp.isnan(known), lowest, known) if floating else known
    found = jax.lax.reduce_window((known, places), start, larger, *window)[1]
    flat = x.reshape(-1)
    offset = (
        0
        if include_batch_in_index
        else (jnp.arange(rows, dtype=jnp.int32)[:, None, None, None] * (height * width * channels))
    )
    if floating:  # nothing is larger than a NaN that comes first
        first = jax.lax.reduce_window(places, beyond, jax.lax.min, *window)
        found = jnp.where(jnp.isnan(flat[first + offset]), first, found)
    return flat[found + offset], found.astype(jax_dtype(output_dtype))


def convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: ShapeLike = None,
    padding: windows.Padding = "VALID",
    data_format: str | None = None,
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Convolves sequences, images or volumes with filters of shape `[*window, channels in, channels out]`.

    Args:
        input: as the number of axes of `filters` says.
        filters: the weights.
        strides: of the spatial axes; None means 1.
        padding: `"SAME"`, `"VALID"`, or sizes before and after each axis.
        data_format: with C last, or behind N.
        dilations: distances between the elements of a window; None means 1.

    Source: `tf.nn.convolution`.
    """
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    form = _format(data_format, kernel.ndim - 2)
    return windows.convolution(
        x, kernel, 1 if strides is None else strides, padding, form, dilations
    )


def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding = "SAME",
    data_format: str | None = None,
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Goes from the result of `convolution` to its input, as the gradient does.

    Args:
        input: what a convolution may give.
        filters: shape `[*window, channels out, channels in]`; the last is the number of channels of `input`.
        output_shape: of the result.
        strides: of the convolution.
        padding: likewise.
        data_format: with C last, or behind N.
        dilations: of the convolution.

    Source: `tf.nn.conv_transpose`.
    """
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    form = _format(data_format, kernel.ndim - 2)
    shape = static_shape(known(output_shape))
    if len(shape) == x.ndim - 2:
        channels = kernel.shape[-2]
        whole = (x.shape[0], *shape, channels)
        shape = whole if form.endswith("C") else (x.shape[0], channels, *shape)

    def forward(y: jax.Array) -> jax.Array:
        return windows.convolution(y, kernel, strides, padding, form, dilations)

    return jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, x.dtype))(x)[0]


def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding = "SAME",
    data_format: str = "NWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Goes from the result of `conv1d` to its input; see `conv_transpose`.

    Source: `tf.nn.conv1d_transpose`.
    """
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


def conv3d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: ShapeLike,
    padding: windows.Padding = "SAME",
    data_format: str = "NDHWC",
    dilations: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Goes from the result of `conv3d` to its input; see `conv_transpose`.

    Source: `tf.nn.conv3d_transpose`.
    """
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    rate: int,
    padding: str,
    name: str | None = None,
) -> jax.Array:
    """Goes from the result of `atrous_conv2d` to its input; see `conv_transpose`.

    Source: `tf.nn.atrous_conv2d_transpose`.
    """
    return conv_transpose(value, filters, output_shape, 1, padding, "NHWC", rate)


def dilation2d(
    input: TensorLike,
    filters: TensorLike,
    strides: ShapeLike,
    padding: str,
    data_format: str,
    dilations: ShapeLike,
    name: str | None = None,
) -> jax.Array:
    """Takes the largest sum of images and filters of shape `[height, width, channels]` in each window.

    Args:
        input: images, NHWC.
        filters: what is added in a window.
        strides: four numbers.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"`.
        dilations: four numbers, distances between the entries of a window.

    Source: `tf.nn.dilation2d`.
    """
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    height, width, _ = kernel.shape
    steps, gaps = (static_shape(one)[1:3] for one in (strides, dilations))
    sizes = [(size - 1) * gap + 1 for size, gap in zip((height, width), gaps, strict=True)]
    counts, pads = [], []
    for size, window, step in zip(x.shape[1:3], sizes, steps, strict=True):
        same = padding.upper() == "SAME"
        count = -(-size // step) if same else (size - window) // step + 1
        missing = max((count - 1) * step + window - size, 0) if same else 0
        counts.append(count)
        pads.append((missing // 2, missing - missing // 2))
    lowest = (
        jnp.finfo(x.dtype).min
        if jnp.issubdtype(x.dtype, jnp.floating)
        else (jnp.iinfo(x.dtype).min)
    )
    padded = jnp.pad(x, [(0, 0), *pads, (0, 0)], constant_values=lowest)
    found = None
    for row in range(height):
        for column in range(width):
            top, left = row * gaps[0], column * gaps[1]
            part = padded[
                :,
                top : top + (counts[0] - 1) * steps[0] + 1 : steps[0],
                left : left + (counts[1] - 1) * steps[1] + 1 : steps[1],
            ]
            shifted = part + kernel[row, column]
            found = shifted if found is None else jnp.maximum(found, shifted)
    return jnp.asarray(found)


def erosion2d(
    value: TensorLike,
    filters: TensorLike,
    strides: ShapeLike,
    padding: str,
    data_format: str,
    dilations: ShapeLike,
    name: str | None = None,
) -> jax.Array:
    """Takes the smallest difference of images and filters in each window; see `dilation2d`.

    Source: `tf.nn.erosion2d`.
    """
    x, kernel = convert_to_tensor(value), convert_to_tensor(filters)
    turned = jnp.flip(kernel, (0, 1))
    return -dilation2d(-x, turned, strides, padding, data_format, dilations)
