"""Augmentation: `tf.image.random_*`, and `stateless_random_*`, whose numbers depend on their seeds alone.

The distributions are TensorFlow's, the random numbers are not.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.image._draws import drawn, drawn_integer, stateless, stateless_integer
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank
from frontends.tf.image.adjusting import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_jpeg_quality,
    adjust_saturation,
)
from frontends.tf.image.orientation import mirrored_on_host
from frontends.tf.ops.convert import static_shape


def random_brightness(
    image: TensorLike,
    max_delta: float,
    seed: int | None = None,
) -> jax.Array:
    """Adds to all pixels, as `adjust_brightness`, a number from an interval around 0.

    Args:
        image: pixels, of any shape.
        max_delta: the end of the interval.
        seed: of the operation.

    Raises:
        ValueError: `max_delta` is negative.

    Source: `tf.image.random_brightness`.
    """
    _check_delta("tf.image.random_brightness", max_delta)
    delta = drawn(seed, (), -max_delta, max_delta)
    return adjust_brightness(image, delta)


def stateless_random_brightness(
    image: TensorLike,
    max_delta: float,
    seed: Sequence[int],
) -> jax.Array:
    """Adds to all pixels, as `adjust_brightness`, a number from an interval around 0, the same way for the same seed.

    Args:
        image: pixels, of any shape.
        max_delta: the end of the interval.
        seed: two integers.

    Raises:
        ValueError: `max_delta` is negative.

    Source: `tf.image.stateless_random_brightness`.
    """
    _check_delta("tf.image.stateless_random_brightness", max_delta)
    delta = stateless(seed, (), -max_delta, max_delta)
    return adjust_brightness(image, delta)


def random_contrast(
    image: TensorLike,
    lower: float,
    upper: float,
    seed: int | None = None,
) -> jax.Array:
    """Changes the contrast, as `adjust_contrast`, by a factor from an interval.

    Args:
        image: one image, or a batch.
        lower: the lowest factor.
        upper: the end of the interval.
        seed: of the operation.

    Raises:
        ValueError: `lower` is negative, or `upper` is not larger.

    Source: `tf.image.random_contrast`.
    """
    _check_range("tf.image.random_contrast", lower, upper)
    factor = drawn(seed, (), lower, upper)
    return adjust_contrast(image, factor)


def stateless_random_contrast(
    image: TensorLike,
    lower: float,
    upper: float,
    seed: Sequence[int],
) -> jax.Array:
    """Changes the contrast, as `adjust_contrast`, by a factor from an interval, the same way for the same seed.

    Args:
        image: one image, or a batch.
        lower: the lowest factor.
        upper: the end of the interval.
        seed: two integers.

    Raises:
        ValueError: `lower` is negative, or `upper` is not larger.

    Source: `tf.image.stateless_random_contrast`.
    """
    _check_range("tf.image.stateless_random_contrast", lower, upper)
    factor = stateless(seed, (), lower, upper)
    return adjust_contrast(image, factor)


def random_hue(
    image: TensorLike,
    max_delta: float,
    seed: int | None = None,
) -> jax.Array:
    """Turns the hue, as `adjust_hue`, by a part from an interval around 0.

    Args:
        image: with three channels.
        max_delta: the end of the interval, from 0 to 0.5.
        seed: of the operation.

    Raises:
        ValueError: `max_delta` is out of range.

    Source: `tf.image.random_hue`.
    """
    _check_delta("tf.image.random_hue", max_delta, 0.5)
    delta = drawn(seed, (), -max_delta, max_delta)
    return adjust_hue(image, delta)


def stateless_random_hue(
    image: TensorLike,
    max_delta: float,
    seed: Sequence[int],
) -> jax.Array:
    """Turns the hue, as `adjust_hue`, by a part from an interval around 0, the same way for the same seed.

    Args:
        image: with three channels.
        max_delta: the end of the interval, from 0 to 0.5.
        seed: two integers.

    Raises:
        ValueError: `max_delta` is out of range.

    Source: `tf.image.stateless_random_hue`.
    """
    _check_delta("tf.image.stateless_random_hue", max_delta, 0.5)
    delta = stateless(seed, (), -max_delta, max_delta)
    return adjust_hue(image, delta)


def random_saturation(
    image: TensorLike,
    lower: float,
    upper: float,
    seed: int | None = None,
) -> jax.Array:
    """Multiplies the saturation, as `adjust_saturation`, by a factor from an interval.

    Args:
        image: with three channels.
        lower: the lowest factor.
        upper: the end of the interval.
        seed: of the operation.

    Raises:
        ValueError: `lower` is negative, or `upper` is not larger.

    Source: `tf.image.random_saturation`.
    """
    _check_range("tf.image.random_saturation", lower, upper)
    factor = drawn(seed, (), lower, upper)
    return adjust_saturation(image, factor)


def stateless_random_saturation(
    image: TensorLike,
    lower: float,
    upper: float,
    seed: Sequence[int],
) -> jax.Array:
    """Multiplies the saturation, as `adjust_saturation`, by a factor from an interval, the same way for the same seed.

    Args:
        image: with three channels.
        lower: the lowest factor.
        upper: the end of the interval.
        seed: two integers.

    Raises:
        ValueError: `lower` is negative, or `upper` is not larger.

    Source: `tf.image.stateless_random_saturation`.
    """
    _check_range("tf.image.stateless_random_saturation", lower, upper)
    factor = stateless(seed, (), lower, upper)
    return adjust_saturation(image, factor)


def random_jpeg_quality(
    image: TensorLike,
    min_jpeg_quality: int,
    max_jpeg_quality: int,
    seed: int | None = None,
) -> jax.Array:
    """Gives an image the errors of JPEG, as `adjust_jpeg_quality`, of a quality from an interval.

    Args:
        image: with one or three channels.
        min_jpeg_quality: the lowest quality.
        max_jpeg_quality: the end of the interval.
        seed: of the operation.

    Raises:
        ValueError: the interval is empty, or not in 0 to 100.

    Source: `tf.image.random_jpeg_quality`.
    """
    _check_quality("tf.image.random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    quality = drawn_integer(seed, min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(
    image: TensorLike,
    min_jpeg_quality: int,
    max_jpeg_quality: int,
    seed: Sequence[int],
) -> jax.Array:
    """Gives an image the errors of JPEG, as `adjust_jpeg_quality`, of a quality from an interval, the same way for the same seed.

    Args:
        image: with one or three channels.
        min_jpeg_quality: the lowest quality.
        max_jpeg_quality: the end of the interval.
        seed: two integers.

    Raises:
        ValueError: the interval is empty, or not in 0 to 100.

    Source: `tf.image.stateless_random_jpeg_quality`.
    """
    _check_quality("tf.image.stateless_random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    quality = stateless_integer(seed, min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, quality)


def random_flip_left_right(
    image: TensorLike,
    seed: int | None = None,
) -> jax.Array:
    """Mirrors half of all images, left to right.

    Args:
        image: one image, or a batch, of which each is flipped or not.
        seed: of the operation.

    Raises:
        ValueError: `image` has other than 3 or 4 axes.

    Source: `tf.image.random_flip_left_right`.
    """
    return _flipped("tf.image.random_flip_left_right", image, -2, lambda shape: drawn(seed, shape))


def stateless_random_flip_left_right(
    image: TensorLike,
    seed: Sequence[int],
) -> jax.Array:
    """Mirrors half of all images, left to right, the same way for the same seed.

    Args:
        image: one image, or a batch, of which each is flipped or not.
        seed: two integers.

    Raises:
        ValueError: `image` has other than 3 or 4 axes.

    Source: `tf.image.stateless_random_flip_left_right`.
    """
    return _flipped(
        "tf.image.stateless_random_flip_left_right", image, -2, lambda shape: stateless(seed, shape)
    )


def random_flip_up_down(
    image: TensorLike,
    seed: int | None = None,
) -> jax.Array:
    """Mirrors half of all images, upside down.

    Args:
        image: one image, or a batch, of which each is flipped or not.
        seed: of the operation.

    Raises:
        ValueError: `image` has other than 3 or 4 axes.

    Source: `tf.image.random_flip_up_down`.
    """
    return _flipped("tf.image.random_flip_up_down", image, -3, lambda shape: drawn(seed, shape))


def stateless_random_flip_up_down(
    image: TensorLike,
    seed: Sequence[int],
) -> jax.Array:
    """Mirrors half of all images, upside down, the same way for the same seed.

    Args:
        image: one image, or a batch, of which each is flipped or not.
        seed: two integers.

    Raises:
        ValueError: `image` has other than 3 or 4 axes.

    Source: `tf.image.stateless_random_flip_up_down`.
    """
    return _flipped(
        "tf.image.stateless_random_flip_up_down", image, -3, lambda shape: stateless(seed, shape)
    )


def random_crop(
    value: TensorLike, size: ShapeLike, seed: int | None = None, name: str | None = None
) -> jax.Array:
    """Cuts a part of a size out of an array, at any place.

    Args:
        value: an array of any rank, such as an image.
        size: of the part, a number for each axis.
        seed: of the operation.

    Raises:
        ValueError: the part is larger than the array.

    Source: `tf.image.random_crop`.
    """
    return _random_crop("tf.image.random_crop", value, size, lambda count: drawn(seed, (count,)))


def stateless_random_crop(
    value: TensorLike, size: ShapeLike, seed: Sequence[int], name: str | None = None
) -> jax.Array:
    """Cuts a part of a size out of an array, at the same place for the same seed.

    Args:
        value: an array of any rank, such as an image.
        size: of the part, a number for each axis.
        seed: two integers.

    Raises:
        ValueError: the part is larger than the array.

    Source: `tf.image.stateless_random_crop`.
    """
    return _random_crop(
        "tf.image.stateless_random_crop", value, size, lambda count: stateless(seed, (count,))
    )


def _random_crop(
    function: str, value: TensorLike, size: ShapeLike, draw: Callable[[int], Any]
) -> Any:
    _, x = library_of(value)
    sizes = static_shape(size)
    counts = [length - part + 1 for part, length in zip(sizes, x.shape, strict=False)]
    if len(sizes) != x.ndim or any(count < 1 for count in counts) or any(n < 0 for n in sizes):
        raise ValueError(
            f"{function}: need value.shape >= size, got shape {tuple(x.shape)} and size {sizes}."
        )
    places = np.asarray(counts)
    # A float32 that is drawn just below 1 times a count may round to the count.
    offsets = (draw(x.ndim) * places.astype(np.float32)).astype(np.int32)
    if isinstance(offsets, Tracer) or isinstance(x, Tracer):
        starts = jax.numpy.minimum(offsets, places - 1)
        return jax.lax.dynamic_slice(x, list(starts), sizes)
    starts = np.minimum(np.asarray(offsets), places - 1).tolist()
    return given(
        x[tuple([slice(start, start + part) for start, part in zip(starts, sizes, strict=True)])]
    )


def _flipped(function: str, image: TensorLike, axis: int, draw: Callable[[Any], Any]) -> Any:
    xp, x = library_of(image)
    check_rank(function, x)
    flips = draw(x.shape[:-3]) < 0.5
    if xp is np and not isinstance(flips, Tracer) and x.ndim == 3:
        return given(mirrored_on_host(x, axis) if flips else x)
    if isinstance(flips, Tracer):
        xp = jax.numpy
    return given(xp.where(flips[..., None, None, None], xp.flip(x, axis), x))


def _check_delta(function: str, delta: float, most: float = np.inf) -> None:
    if not 0 <= delta <= most:
        limit = "" if most == np.inf else f" and at most {most}"
        raise ValueError(f"{function}: max_delta must not be negative{limit}, got {delta}.")


def _check_range(function: str, lower: float, upper: float) -> None:
    if upper <= lower or lower < 0:
        raise ValueError(f"{function}: expected 0 <= lower < upper, got {lower} and {upper}.")


def _check_quality(function: str, lowest: int, highest: int) -> None:
    if not 0 <= lowest < highest <= 100:
        raise ValueError(
            f"{function}: expected 0 <= min_jpeg_quality < max_jpeg_quality <= 100, got {lowest} and {highest}."
        )
