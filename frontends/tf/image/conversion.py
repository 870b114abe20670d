"""Conversion of images: between dtypes with a range each, and to a mean of 0."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import as_dtype, jax_dtype
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank


def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> jax.Array:
    """Converts between dtypes and scales: floats are from 0 to 1, integers up to their maximum.

    Args:
        image: pixels, of any shape.
        dtype: floating or integer.
        saturate: whether to clip what the dtype has no value for.

    Raises:
        AttributeError: a dtype is neither floating nor integer.

    Source: `tf.image.convert_image_dtype`.
    """
    xp, x = library_of(image)
    return given(converted(xp, x, dtype, saturate))


def converted(xp: Any, x: Any, dtype: DTypeLike, saturate: bool = False) -> Any:
    """Does the work of `convert_image_dtype` in one of the libraries."""
    source, target = as_dtype(x.dtype), as_dtype(jax_dtype(dtype))
    for kind in (source, target):
        if not (kind.is_floating or kind.is_integer):
            raise AttributeError(
                f"tf.image.convert_image_dtype: expected dtypes that are floating or integer, got {kind.name}."
            )
    if source == target:
        return x
    if source.is_floating and target.is_floating:
        return x.astype(target.dtype)
    if source.is_integer and target.is_floating:
        # float16 ends at 65504; what is beyond is infinite in TensorFlow, too.
        with np.errstate(over="ignore"):
            return x.astype(target.dtype) * target.dtype.type(1 / int(source.max))
    lowest, highest = int(target.min), int(target.max)
    if source.is_integer and int(source.max) <= highest:
        factor = target.dtype.type((highest + 1) // (int(source.max) + 1))
        clipped = xp.maximum(x, 0) if saturate and lowest == 0 else x
        return clipped.astype(target.dtype) * factor
    if source.is_floating:
        scaled = x * x.dtype.type(highest + 0.5)
    else:
        scaled = x // source.dtype.type((int(source.max) + 1) // (highest + 1))
    # A float32 beyond the range of integers has no defined conversion.
    if saturate:
        limits = np.asarray([lowest, highest])
        if source.is_integer:
            limits = np.clip(limits, int(source.min), int(source.max))
        low, high = limits.astype(scaled.dtype)
        if source.is_floating and int(high) > highest:
            high = np.nextafter(high, scaled.dtype.type(0))
        scaled = xp.clip(scaled, low, high)
    return scaled.astype(target.dtype)


def as_floats(xp: Any, x: Any) -> Any:
    """Converts to float32, unless pixels are floats that TensorFlow computes with."""
    return x if x.dtype in (np.float16, np.float32) else converted(xp, x, jnp.float32)


def per_image_standardization(image: TensorLike) -> jax.Array:
    """Scales each image to a mean of 0 and a variance of 1; an even image becomes 0.

    Returns:
        float32.

    Source: `tf.image.per_image_standardization`.
    """
    xp, x = library_of(image)
    check_rank("tf.image.per_image_standardization", x, most=99)
    x = x.astype(np.float32)
    axes = (-3, -2, -1)
    pixels = x.shape[-3] * x.shape[-2] * x.shape[-1]
    centered = x - x.mean(axes, keepdims=True)
    deviation = xp.sqrt(xp.mean(centered * centered, axis=axes, keepdims=True))
    return given(centered / xp.maximum(deviation, np.float32(pixels**-0.5)))
