"""`tf.image`: resizing and converting images, of shape `[height, width, channels]` or batches of it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._names import attributes, defined_in
from frontends.tf._symbolic import recordable
from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import as_dtype, jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, static_shape


class ResizeMethod:
    """Methods of `tf.image.resize`, which takes their names, too.

    Source: `tf.image.ResizeMethod`.
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"


_METHODS = ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5")


def resize(
    images: TensorLike,
    size: ShapeLike,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Scales images to a height and width, with half-pixel centres and, unlike JAX, no antialiasing.

    Args:
        images: one image, or a batch.
        size: height and width.
        method: one of `tf.image.ResizeMethod`.
        preserve_aspect_ratio: whether to keep it, and make the image fit into `size`.
        antialias: whether to average what is scaled down.

    Returns:
        float32, but for the method "nearest", which keeps the dtype. TensorFlow rounds the weights of
        "bicubic", so that its numbers differ by up to 0.0005 of the range.

    Raises:
        ValueError: there is no such method.
    """
    if method not in _METHODS:
        raise ValueError(
            f"tf.image.resize: method must be one of {', '.join(_METHODS)}, got {method!r}."
        )
    host = isinstance(images, np.ndarray) and not antialias
    x: Any = images if host else convert_to_tensor(images)
    height, width = static_shape(size)
    if preserve_aspect_ratio:
        scale = min(height / x.shape[-3], width / x.shape[-2])
        height, width = round(x.shape[-3] * scale), round(x.shape[-2] * scale)
    nearest = method == "nearest"
    if host and method in ("bilinear", "nearest"):
        # Photos have many sizes, and JAX would compile something for each.
        return jnp.asarray(_resize_on_host(x, height, width, nearest))
    return jax.image.resize(
        x if nearest else x.astype(jnp.float32),
        (*x.shape[:-3], height, width, x.shape[-1]),
        method,
        antialias=antialias and not nearest,
    )


def _resize_on_host(x: np.ndarray, height: int, width: int, nearest: bool) -> np.ndarray:
    for axis, size in ((-3, height), (-2, width)):
        length = x.shape[axis]
        places = (np.arange(size) + 0.5) * (length / size)
        if nearest:
            x = x.take(np.minimum(places.astype(int), length - 1), axis)
            continue
        before = np.floor(places - 0.5)
        share = (places - 0.5 - before).astype(np.float32).reshape(-1, *[1] * (-axis - 1))
        lower, upper = (
            x.take(np.clip(before + step, 0, length - 1).astype(int), axis).astype(np.float32)
            for step in (0, 1)
        )
        x = lower + (upper - lower) * share
    return x


def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> jax.Array:
    """Converts between dtypes and scales: floats are from 0 to 1, integers up to their maximum."""
    x, target = convert_to_tensor(image), as_dtype(jax_dtype(dtype))
    source = as_dtype(x.dtype)
    if source == target:
        return x
    if source.is_floating and target.is_floating:
        return x.astype(target.dtype)
    if source.is_integer and target.is_floating:
        return x.astype(target.dtype) * (1 / int(source.max))
    lowest, highest = int(target.min), int(target.max)
    if not source.is_floating and int(source.max) <= highest:
        factor = (highest + 1) // (int(source.max) + 1)
        scaled = jnp.clip(x, 0) if saturate and lowest == 0 else x
        return scaled.astype(target.dtype) * factor
    if source.is_floating:
        scaled = x * (highest + 0.5)
    else:
        scaled = x // ((int(source.max) + 1) // (highest + 1))
    # A float32 beyond the range of integers has no defined conversion.
    scaled = jnp.clip(scaled, lowest, highest) if saturate else scaled
    return scaled.astype(target.dtype)


def flip_left_right(image: TensorLike) -> jax.Array:
    """Mirrors images, left to right."""
    return jnp.flip(convert_to_tensor(image), -2)


def flip_up_down(image: TensorLike) -> jax.Array:
    """Mirrors images, upside down."""
    return jnp.flip(convert_to_tensor(image), -3)


def per_image_standardization(image: TensorLike) -> jax.Array:
    """Scales each image to a mean of 0 and a variance of 1; an even image becomes 0."""
    x = convert_to_tensor(image)
    x = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(jnp.float32)
    pixels = x.shape[-3] * x.shape[-2] * x.shape[-1]
    mean = x.mean((-3, -2, -1), keepdims=True)
    deviation = jnp.maximum(x.std((-3, -2, -1), keepdims=True), pixels**-0.5)
    return (x - mean) / deviation


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> jax.Array:
    """Weighs the three channels to one, as bright as they look, and keeps the dtype."""
    x = convert_to_tensor(images)
    floats = convert_image_dtype(x, jnp.float32)
    gray = jnp.sum(floats * jnp.array([0.2989, 0.5870, 0.1140]), axis=-1, keepdims=True)
    return convert_image_dtype(gray, x.dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> jax.Array:
    """Repeats the one channel three times."""
    return jnp.repeat(convert_to_tensor(images), 3, axis=-1)


def central_crop(image: TensorLike, central_fraction: float) -> jax.Array:
    """Cuts the border off, so that a fraction of the height and of the width stays."""
    if not 0 < central_fraction <= 1:
        raise ValueError(
            f"tf.image.central_crop: central_fraction must be in (0, 1], got {central_fraction}."
        )
    x = convert_to_tensor(image)
    top, left = (int((x.shape[axis] * (1 - central_fraction)) / 2) for axis in (-3, -2))
    return x[..., top : x.shape[-3] - top, left : x.shape[-2] - left, :]


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> jax.Array:
    """Computes the peak signal-to-noise ratio of images, in decibels.

    Args:
        a: images, of shape `[..., height, width, channels]`.
        b: images of the same shape.
        max_val: the largest value that a pixel can have, such as 255.

    Returns:
        A number for each image.

    Raises:
        ValueError: the shapes differ.

    Source: `tf.image.psnr`.
    """
    first, second = (convert_image_dtype(convert_to_tensor(one), "float32") for one in (a, b))
    if first.shape[-3:] != second.shape[-3:]:
        raise ValueError(
            f"tf.image.psnr: expected images of one shape, got {tuple(first.shape)} and {tuple(second.shape)}."
        )
    dtype = convert_to_tensor(a).dtype
    largest = jnp.asarray(max_val, dtype)
    peak = convert_image_dtype(largest, "float32")
    error = jnp.mean(jnp.square(first - second), axis=(-3, -2, -1))
    return 20 * jnp.log10(peak) - 10 * jnp.log10(error)


globals().update(recordable("tf.image", defined_in(__name__)))
__getattr__, __dir__ = attributes("tf.image", defined_in(__name__))
