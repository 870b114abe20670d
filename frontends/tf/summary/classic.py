"""Summaries in the format of TensorFlow 1, which TensorBoard shows as it always did: `simple_value`, `histo` and `image`."""

import bisect
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from frontends.tf.image import convert_image_dtype
from frontends.tf.summary.collected import Summary
from frontends.tf.summary.ops import png
from frontends.tf.summary.writer import require_tensorboard

_LARGEST = float(np.finfo(np.float64).max)
_ALMOST_ZERO = 1e-6
_NOT_FINITE = (255, 0, 0, 255)


def encoded(summaries: Sequence[Summary], values: Mapping[str, Any]) -> Any:
    """Makes one `tf.Summary` of several.

    Args:
        summaries: what a model function has collected.
        values: what a step gave, by their names.

    Raises:
        ValueError: a histogram is of values that are no numbers.
    """
    require_tensorboard()
    from tensorboard.compat.proto import summary_pb2

    made: Any = getattr(summary_pb2, "Summary")()  # noqa: B009 (type checkers do not see it)
    for one in summaries:
        _ADDING[one.kind](made, one, np.asarray(values[one.name]))
    return made


def _add_scalar(made: Any, summary: Summary, value: Any) -> None:
    made.value.add(tag=summary.name, simple_value=float(value))


def _add_histogram(made: Any, summary: Summary, values: Any) -> None:
    numbers = values.astype(np.float64).reshape(-1)
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"Nan in summary histogram for: {summary.name}. Look for where the values leave the range of floats, for example "
            "with tf.debugging.check_numerics."
        )
    limits = _limits()
    counts = np.bincount(
        [bisect.bisect_right(limits, number) for number in numbers.tolist()],
        minlength=len(limits),
    )
    histo = made.value.add(tag=summary.name).histo
    histo.num, histo.sum = len(numbers), float(numbers.sum())
    histo.sum_squares = float((numbers**2).sum())
    histo.min, histo.max = (
        (float(numbers.min()), float(numbers.max())) if len(numbers) else (_LARGEST, -_LARGEST)
    )
    # Of several empty buckets in a row there is the last one.
    empty = counts == 0
    kept = np.flatnonzero(~(empty & np.append(empty[1:], False)))
    histo.bucket_limit.extend(limits[index] for index in kept)
    histo.bucket.extend(float(counts[index]) for index in kept)


@functools.cache
def _limits() -> list[float]:
    """The upper limits of buckets, each a tenth larger than the one before."""
    positive: list[float] = []
    limit = 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(_LARGEST)
    return [*(-one for one in reversed(positive)), 0.0, *positive]


def _add_images(made: Any, summary: Summary, images: Any) -> None:
    for index, image in enumerate(images):
        pixels = _pixels(image)
        height, width, channels = pixels.shape
        several = summary.max_outputs != 1
        value = made.value.add(
            tag=f"{summary.name}/image/{index}" if several else f"{summary.name}/image"
        )
        value.image.height, value.image.width, value.image.colorspace = height, width, channels
        value.image.encoded_image_string = png(pixels)


def _pixels(image: Any) -> Any:
    """Stretches an image of floats to the whole range; grey in the middle is zero, if some are negative."""
    if not np.issubdtype(image.dtype, np.floating):
        return np.asarray(convert_image_dtype(image, np.uint8, saturate=True))
    image = image.astype(np.float32)
    is_finite = np.isfinite(image).all(-1)
    finite = image[is_finite]
    largest = np.abs(finite).max(initial=0)
    has_negative = finite.min(initial=0) < 0
    scale = 0 if largest < _ALMOST_ZERO else (127 if has_negative else 255) / largest
    shown = np.where(is_finite[..., None], image, 0) * scale + (128 if has_negative else 0)
    pixels = shown.astype(np.uint8)
    pixels[~is_finite] = _NOT_FINITE[: image.shape[-1]]
    return pixels


def _add_text(made: Any, summary: Summary, texts: Any) -> None:
    from tensorboard.plugins.text import metadata
    from tensorboard.util.tensor_util import make_tensor_proto

    value = made.value.add(tag=summary.name, tensor=make_tensor_proto(texts.astype(object)))
    value.metadata.CopyFrom(metadata.create_summary_metadata(None, None))


_ADDING = {
    "scalar": _add_scalar,
    "histogram": _add_histogram,
    "image": _add_images,
    "text": _add_text,
}
