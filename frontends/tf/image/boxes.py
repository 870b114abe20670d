"""Boxes in images: drawing them, and choosing one to crop to."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.image._draws import drawn, stateless
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank
from frontends.tf.ops.convert import convert_to_tensor, known

# What boxes are drawn in, in turns: red, green, blue and opacity.
_COLORS = (
    *((1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1)),
    *((0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1)),
)


class SampledBox(NamedTuple):
    """A box to crop to.

    Attributes:
        begin: the first row, the first column, and 0.
        size: rows, columns, and -1 for all channels.
        bboxes: top, left, bottom and right in parts of the image, of shape `[1, 1, 4]`.
    """

    begin: jax.Array
    size: jax.Array
    bboxes: jax.Array


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, colors: TensorLike = None, name: str | None = None
) -> jax.Array:
    """Draws the edges of boxes into a batch of images.

    Args:
        images: floats.
        boxes: of shape `[images, boxes, 4]`: top, left, bottom and right, from 0 to 1.
        colors: one for each box, in turns, with a number for each channel; None takes ten.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: shapes do not fit.

    Source: `tf.image.draw_bounding_boxes`.
    """
    xp, x = library_of(images, boxes)
    check_rank("tf.image.draw_bounding_boxes", x, least=4)
    corners = xp.asarray(convert_to_tensor(boxes), np.float32)
    if corners.ndim != 3 or corners.shape[0] != x.shape[0] or corners.shape[2] != 4:
        raise ValueError(
            f"tf.image.draw_bounding_boxes: expected boxes of shape [{x.shape[0]}, boxes, 4], got {tuple(corners.shape)}."
        )
    height, width, channels = x.shape[1:]
    table = _COLORS if colors is None else convert_to_tensor(colors)
    table = xp.asarray(table, x.dtype)[:, :channels]
    if channels == 1 and colors is None:
        table = xp.ones_like(table)
    scale = np.asarray([height - 1, width - 1] * 2, np.float32)
    ends = xp.trunc(corners * scale)
    rows, columns = np.arange(height)[:, None], np.arange(width)
    for number in range(corners.shape[1]):
        top, left, bottom, right = (ends[:, number, side, None, None] for side in range(4))
        drawable = (top <= bottom) & (left <= right)
        within = (rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)
        edge = (rows == top) | (rows == bottom) | (columns == left) | (columns == right)
        color = table[number % len(table)]
        x = xp.where((drawable & within & edge)[..., None], color, x)
    return given(x)


def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampledBox:
    """Chooses a part of an image that covers enough of what is to be seen in it.

    Args:
        image_size: height, width and channels.
        bounding_boxes: what is to be seen, of shape `[..., boxes, 4]`: top, left, bottom and right, from 0 to 1.
        seed: of the operation; 0 stands for none.
        min_object_covered: how much of one of the boxes the part must cover.
        aspect_ratio_range: width by height of the part; None for 0.75 to 1.33.
        area_range: its area in parts of the image's; None for 0.05 to 1.
        max_attempts: how often to try, before the whole image is taken; None for 100.
        use_image_if_no_bounding_boxes: whether the whole image is to be seen if there are no boxes.

    Raises:
        ValueError: there are no boxes, or a range is empty.

    Source: `tf.image.sample_distorted_bounding_box`.
    """
    attempts = max_attempts or 100
    return _sampled(
        "tf.image.sample_distorted_bounding_box",
        (image_size, bounding_boxes, min_object_covered),
        (aspect_ratio_range, area_range, use_image_if_no_bounding_boxes),
        lambda: drawn(seed or None, (4, attempts)),
    )


def stateless_sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: Sequence[int],
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampledBox:
    """Chooses a part of an image, the same for the same seed; see `sample_distorted_bounding_box`.

    Args:
        seed: two integers.

    Source: `tf.image.stateless_sample_distorted_bounding_box`.
    """
    attempts = max_attempts or 100
    return _sampled(
        "tf.image.stateless_sample_distorted_bounding_box",
        (image_size, bounding_boxes, min_object_covered),
        (aspect_ratio_range, area_range, use_image_if_no_bounding_boxes),
        lambda: stateless(seed, (4, attempts)),
    )


def _sampled(
    function: str,
    what: tuple[TensorLike, TensorLike, TensorLike],
    settings: tuple[Sequence[float] | None, Sequence[float] | None, bool | None],
    draw: Callable[[], Any],
) -> SampledBox:
    ratios, areas = settings[0] or (0.75, 1.33), settings[1] or (0.05, 1.0)
    for kind, (low, high) in (("aspect_ratio_range", ratios), ("area_range", areas)):
        if not 0 < low <= high or (kind == "area_range" and high > 1):
            raise ValueError(
                f"{function}: {kind} must be positive and ascending, got {low}, {high}."
            )
    height, width = (int(size) for size in np.asarray(known(what[0])).tolist()[:2])
    boxes = convert_to_tensor(what[1]).reshape(-1, 4)
    if not boxes.shape[0]:
        if not settings[2]:
            raise ValueError(
                f"{function}: no bounding boxes are given. Pass use_image_if_no_bounding_boxes=True for the whole image."
            )
        boxes = jnp.asarray([[0.0, 0.0, 1.0, 1.0]])
    numbers = draw()
    traced = any(isinstance(each, Tracer) for each in (numbers, boxes, what[2]))
    xp: Any = jnp if traced or not in_map_on_host() else np
    tries = _attempts(xp, xp.asarray(numbers), (height, width), ratios, areas)
    top, left, rows, columns, fits = tries
    least = what[2] if what[2] is not None else 0.1
    fits = fits & _covers(xp, xp.asarray(boxes), tries, (height, width), least)
    first = xp.argmax(fits)
    found = fits[first]
    begin = [xp.where(found, each[first], 0) for each in (top, left)]
    size = [
        xp.where(found, each[first], whole) for each, whole in ((rows, height), (columns, width))
    ]
    ends = [start + count for start, count in zip(begin, size, strict=True)]
    parts = xp.stack([begin[0] / height, begin[1] / width, ends[0] / height, ends[1] / width])
    return SampledBox(
        given(xp.stack([*begin, xp.zeros_like(begin[0])]).astype(np.int32)),
        given(xp.stack([*size, -xp.ones_like(size[0])]).astype(np.int32)),
        given(parts.astype(np.float32).reshape(1, 1, 4)),
    )


def _attempts(
    xp: Any, numbers: Any, lengths: tuple[int, int], ratios: Sequence[float], areas: Sequence[float]
) -> tuple[Any, Any, Any, Any, Any]:
    """Makes boxes of random numbers: top, left, rows, columns, and whether they have the right size."""
    height, width = lengths
    ratio = numbers[0] * (ratios[1] - ratios[0]) + ratios[0]
    least, most = (part * height * width for part in areas)
    # The tallest box of this ratio that has the right area, and is no wider than the image.
    tallest = xp.minimum(xp.rint(xp.sqrt(most / ratio)), xp.floor((width + 0.5 - 1e-7) / ratio))
    tallest = xp.minimum(tallest, height)
    lowest = xp.minimum(xp.rint(xp.sqrt(least / ratio)), tallest)
    rows = lowest + _whole(xp, numbers[1], tallest - lowest + 1)
    rows = xp.where(rows * xp.rint(rows * ratio) < least, rows + 1, rows)
    rows = xp.where(rows * xp.rint(rows * ratio) > most, rows - 1, rows)
    columns = xp.rint(rows * ratio)
    area = rows * columns
    fits = (area >= least) & (area <= most) & (rows <= height) & (columns <= width)
    top = _whole(xp, numbers[2], xp.maximum(height - rows, 1))
    left = _whole(xp, numbers[3], xp.maximum(width - columns, 1))
    return top, left, rows, columns, fits & (rows > 0) & (columns > 0)


def _whole(xp: Any, number: Any, count: Any) -> Any:
    return xp.minimum(xp.floor(number * count), count - 1)


def _covers(xp: Any, boxes: Any, tries: Any, lengths: tuple[int, int], least: Any) -> Any:
    """Tells which attempts cover enough of one of the boxes."""
    top, left, rows, columns, _ = (each[:, None] for each in tries)
    height, width = lengths
    ends = xp.floor(boxes * np.asarray([height, width] * 2, np.float32))
    down = xp.minimum(top + rows, ends[:, 2]) - xp.maximum(top, ends[:, 0])
    across = xp.minimum(left + columns, ends[:, 3]) - xp.maximum(left, ends[:, 1])
    area = (ends[:, 2] - ends[:, 0]) * (ends[:, 3] - ends[:, 1])
    seen = xp.maximum(down, 0) * xp.maximum(across, 0)
    return ((area > 0) & (seen >= least * area)).any(1)
