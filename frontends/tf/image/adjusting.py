"""Adjustments of images: brightness, contrast, colours, and the quality of JPEG."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_channels, check_rank
from frontends.tf.image.coding import decode_jpeg, encode_jpeg
from frontends.tf.image.conversion import as_floats, converted
from frontends.tf.image.hsv import from_hsv, to_hsv
from frontends.tf.ops.convert import static_int


def adjust_brightness(image: TensorLike, delta: TensorLike) -> jax.Array:
    """Adds to all pixels; of integers, a part of their maximum.

    Args:
        image: pixels, of any shape.
        delta: what to add, from -1 to 1 where images are.

    Returns:
        The image, of the same dtype; integers are clipped.

    Source: `tf.image.adjust_brightness`.
    """
    return _adjusted(image, lambda xp, x: x + _number(xp, delta, x.dtype), delta)


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> jax.Array:
    """Moves pixels away from the mean of their image and channel, by a factor.

    Args:
        images: one image, or a batch.
        contrast_factor: 1 changes nothing.

    Returns:
        The images, of the same dtype; integers are clipped.

    Source: `tf.image.adjust_contrast`.
    """

    def move(xp: Any, x: Any) -> Any:
        check_rank("tf.image.adjust_contrast", x, most=99)
        # Rows first: NumPy adds long rows fast, and the few channels of a pixel slowly.
        total = x.sum(-3, keepdims=True, dtype=np.float32).sum(-2, keepdims=True)
        mean = (total / np.float32(x.shape[-3] * x.shape[-2])).astype(x.dtype)
        factor, shape = _number(xp, contrast_factor, x.dtype), x.shape
        if xp is np:
            # Whole rows, for the same reason.
            row = *shape[:-2], shape[-2] * shape[-1]
            mean = np.broadcast_to(mean, (*shape[:-3], 1, *shape[-2:])).reshape(
                *row[:-2], 1, row[-1]
            )
            x = x.reshape(row)
        moved = x - mean
        moved *= factor
        moved += mean
        return moved.reshape(shape)

    return _adjusted(images, move, contrast_factor)


def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> jax.Array:
    """Raises pixels from 0 to 1 to a power, and multiplies them.

    Args:
        image: pixels, of any shape.
        gamma: the power; not negative.
        gain: the factor.

    Returns:
        The image, of the same dtype; integers are clipped.

    Raises:
        ValueError: `gamma` is negative.

    Source: `tf.image.adjust_gamma`.
    """
    if not isinstance(gamma, Tracer) and np.asarray(gamma) < 0:
        raise ValueError(f"tf.image.adjust_gamma: gamma must not be negative, got {gamma}.")
    return _adjusted(
        image,
        lambda xp, x: _number(xp, gain, x.dtype) * x ** _number(xp, gamma, x.dtype),
        gamma,
        gain,
    )


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> jax.Array:
    """Turns the hue of colours.

    Args:
        image: with three channels.
        delta: how far, from -1 to 1; 1 is the whole circle.

    Returns:
        The image, of the same dtype; integers are clipped.

    Raises:
        ValueError: `delta` is out of range, or there are not three channels.

    Source: `tf.image.adjust_hue`.
    """
    if isinstance(delta, float) and not -1 <= delta <= 1:
        raise ValueError(f"tf.image.adjust_hue: delta must be from -1 to 1, got {delta}.")

    def turn(xp: Any, x: Any) -> Any:
        check_channels("tf.image.adjust_hue", x, 3)
        hue, saturation, value = to_hsv(xp, x)
        turned = xp.mod(hue + _number(xp, delta, x.dtype), x.dtype.type(1))
        return from_hsv(xp, turned, saturation, value)

    return _adjusted(image, turn, delta)


def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> jax.Array:
    """Multiplies the saturation of colours.

    Args:
        image: with three channels.
        saturation_factor: 0 makes images gray.

    Returns:
        The image, of the same dtype; integers are clipped.

    Raises:
        ValueError: there are not three channels.

    Source: `tf.image.adjust_saturation`.
    """

    def multiply(xp: Any, x: Any) -> Any:
        check_channels("tf.image.adjust_saturation", x, 3)
        hue, saturation, value = to_hsv(xp, x)
        changed = xp.clip(saturation * _number(xp, saturation_factor, x.dtype), 0, 1)
        return from_hsv(xp, hue, changed, value)

    return _adjusted(image, multiply, saturation_factor)


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, dct_method: str = "", name: str | None = None
) -> jax.Array:
    """Encodes an image as JPEG and decodes it: it gets the errors of that quality.

    Runs on the host, as in map functions of datasets.

    Args:
        image: with one or three channels.
        jpeg_quality: from 0 to 100.
        dct_method: as for `tf.io.decode_jpeg`.

    Returns:
        The image, of the same dtype.

    Source: `tf.image.adjust_jpeg_quality`.
    """
    xp, x = library_of(image)
    check_rank("tf.image.adjust_jpeg_quality", x, most=3)
    encoded = encode_jpeg(
        converted(xp, x, np.uint8, saturate=True), quality=static_int(jpeg_quality)
    )
    decoded = np.asarray(decode_jpeg(encoded, x.shape[-1], dct_method=dct_method))
    return given(converted(np, decoded, x.dtype, saturate=True))


def _adjusted(image: TensorLike, change: Callable[[Any, Any], Any], *numbers: TensorLike) -> Any:
    xp, x = library_of(image, *numbers)
    return given(converted(xp, change(xp, as_floats(xp, x)), x.dtype, saturate=True))


def _number(xp: Any, value: TensorLike, dtype: Any) -> Any:
    return xp.asarray(value, dtype)
