"""Colour spaces: `tf.image.rgb_to_hsv`, `rgb_to_grayscale` and their like."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_channels
from frontends.tf.image.conversion import converted
from frontends.tf.image.hsv import from_hsv, to_hsv

# The matrices of the standards' definitions, as TensorFlow rounds them.
_TO_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
_FROM_YIQ = (
    (1.0, 1.0, 1.0),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)
_TO_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
_FROM_YUV = (
    (1.0, 1.0, 1.0),
    (0.0, -0.394642334, 2.03206185),
    (1.13988303, -0.58062185, 0.0),
)
_BRIGHTNESS = (0.2989, 0.5870, 0.1140)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> jax.Array:
    """Weighs the three channels to one, as bright as they look, and keeps the dtype.

    Source: `tf.image.rgb_to_grayscale`.
    """
    xp, x = library_of(images)
    check_channels("tf.image.rgb_to_grayscale", x, 3)
    floats = converted(xp, x, jnp.float32)
    gray = floats @ np.asarray(_BRIGHTNESS, floats.dtype)
    return given(converted(xp, gray[..., None], x.dtype))


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> jax.Array:
    """Repeats the one channel three times.

    Source: `tf.image.grayscale_to_rgb`.
    """
    xp, x = library_of(images)
    check_channels("tf.image.grayscale_to_rgb", x, 1)
    return given(xp.repeat(x, 3, -1))


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> jax.Array:
    """Converts floats from 0 to 1 to hue, saturation and value.

    Source: `tf.image.rgb_to_hsv`.
    """
    xp, x = library_of(images)
    check_channels("tf.image.rgb_to_hsv", x, 3)
    return given(xp.stack(to_hsv(xp, x), -1))


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> jax.Array:
    """Converts hue, saturation and value, floats from 0 to 1, to colours.

    Source: `tf.image.hsv_to_rgb`.
    """
    xp, x = library_of(images)
    check_channels("tf.image.hsv_to_rgb", x, 3)
    return given(from_hsv(xp, x[..., 0], x[..., 1], x[..., 2]))


def rgb_to_yiq(images: TensorLike) -> jax.Array:
    """Converts floats to brightness and two differences of colours.

    Source: `tf.image.rgb_to_yiq`.
    """
    return _multiplied("tf.image.rgb_to_yiq", images, _TO_YIQ)


def yiq_to_rgb(images: TensorLike) -> jax.Array:
    """Converts back what `rgb_to_yiq` gives.

    Source: `tf.image.yiq_to_rgb`.
    """
    return _multiplied("tf.image.yiq_to_rgb", images, _FROM_YIQ)


def rgb_to_yuv(images: TensorLike) -> jax.Array:
    """Converts floats to brightness and two differences of colours, those of analogue television.

    Source: `tf.image.rgb_to_yuv`.
    """
    return _multiplied("tf.image.rgb_to_yuv", images, _TO_YUV)


def yuv_to_rgb(images: TensorLike) -> jax.Array:
    """Converts back what `rgb_to_yuv` gives.

    Source: `tf.image.yuv_to_rgb`.
    """
    return _multiplied("tf.image.yuv_to_rgb", images, _FROM_YUV)


def _multiplied(function: str, images: TensorLike, matrix: Any) -> jax.Array:
    xp, x = library_of(images)
    check_channels(function, x, 3)
    weights = np.asarray(matrix, x.dtype)
    product = x @ weights if xp is np else jnp.matmul(x, weights, precision="highest")
    return given(product)
