"""Patches of images: `tf.image.extract_patches`."""

from typing import Any

import jax
import numpy as np

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank
from frontends.tf.ops.convert import static_shape


def extract_patches(
    images: TensorLike,
    sizes: ShapeLike,
    strides: ShapeLike,
    rates: ShapeLike,
    padding: str,
    name: str | None = None,
) -> jax.Array:
    """Puts the pixels of a window, which slides over images, into the channels.

    Args:
        images: a batch.
        sizes: of the window: `[1, rows, columns, 1]`.
        strides: how far it moves: `[1, rows, columns, 1]`.
        rates: from one of its pixels to the next: `[1, rows, columns, 1]`.
        padding: `"VALID"`, or `"SAME"` for zeros around images.

    Returns:
        An array of shape `[images, rows, columns, channels]`, with as many rows and columns as the window has places.

    Raises:
        ValueError: an argument has another form.

    Source: `tf.image.extract_patches`.
    """
    xp, x = library_of(images)
    check_rank("tf.image.extract_patches", x, least=4)
    windows = [static_shape(each) for each in (sizes, strides, rates)]
    if any(len(each) != 4 or each[0] != 1 or each[3] != 1 for each in windows):
        raise ValueError(
            f"tf.image.extract_patches: expected sizes, strides and rates as [1, rows, columns, 1], got {windows}."
        )
    if str(padding).upper() not in ("SAME", "VALID"):
        raise ValueError(
            f"tf.image.extract_patches: padding must be SAME or VALID, got {padding!r}."
        )
    places, margins = [], []
    for axis in (1, 2):
        size, stride, rate = (each[axis] for each in windows)
        reach = (size - 1) * rate + 1
        if str(padding).upper() == "SAME":
            count = -(-x.shape[axis] // stride)
            zeros = max((count - 1) * stride + reach - x.shape[axis], 0)
        else:
            count, zeros = max((x.shape[axis] - reach) // stride + 1, 0), 0
        margins.append((zeros // 2, zeros - zeros // 2))
        places.append(np.arange(count)[:, None] * stride + np.arange(size) * rate)
    padded = xp.pad(x, [(0, 0), *margins, (0, 0)])
    rows, columns = places
    found = padded[:, rows[:, None, :, None], columns[None, :, None, :]]
    return given(found.reshape(x.shape[0], len(rows), len(columns), -1))


def extract_image_patches(
    images: TensorLike,
    ksizes: ShapeLike = None,
    strides: ShapeLike = None,
    rates: ShapeLike = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: ShapeLike = None,
) -> jax.Array:
    """Puts the pixels of a window into the channels, as `extract_patches`.

    Source: `tf.compat.v1.image.extract_image_patches`.
    """
    window: Any = sizes if ksizes is None else ksizes
    return extract_patches(images, window, strides, rates, str(padding))
