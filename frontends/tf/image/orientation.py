"""Flips, turns and transposes of images."""

import functools
from typing import Any

import jax
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank
from frontends.tf.ops.convert import static_int


def flip_left_right(image: TensorLike) -> jax.Array:
    """Mirrors images, left to right.

    Source: `tf.image.flip_left_right`.
    """
    xp, x = library_of(image)
    check_rank("tf.image.flip_left_right", x)
    return given(mirrored_on_host(x, -2) if xp is np else x[..., ::-1, :])


def flip_up_down(image: TensorLike) -> jax.Array:
    """Mirrors images, upside down.

    Source: `tf.image.flip_up_down`.
    """
    _, x = library_of(image)
    check_rank("tf.image.flip_up_down", x)
    return given(x[..., ::-1, :, :])


def rot90(image: TensorLike, k: int = 1, name: str | None = None) -> jax.Array:
    """Turns images counterclockwise by 90 degrees, `k` times.

    Source: `tf.image.rot90`.
    """
    xp, x = library_of(image)
    check_rank("tf.image.rot90", x)
    return given(xp.rot90(x, static_int(k) % 4, (-3, -2)))


def transpose(image: TensorLike, name: str | None = None) -> jax.Array:
    """Swaps rows and columns of images.

    Source: `tf.image.transpose`.
    """
    xp, x = library_of(image)
    check_rank("tf.image.transpose", x)
    return given(xp.swapaxes(x, -3, -2))


def transpose_image(image: TensorLike, name: str | None = None) -> jax.Array:
    """Swaps rows and columns of images, as `transpose`.

    Source: `tf.compat.v1.image.transpose_image`.
    """
    return transpose(image)


def mirrored_on_host(x: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    """Mirrors images of NumPy; rows stay together in memory, as whatever comes next reads them."""
    if axis == -3:
        return x[..., ::-1, :, :]
    width, channels = x.shape[-2:]
    rows = x.reshape(*x.shape[:-2], width * channels)
    return rows.take(_mirror(width, channels), -1).reshape(x.shape)


@functools.lru_cache(256)
def _mirror(width: int, channels: int) -> np.ndarray[Any, Any]:
    return np.arange(width * channels).reshape(width, channels)[::-1].ravel()
