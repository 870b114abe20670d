"""Scalars, histograms, images and texts, in the formats of TensorBoard's own plugins.

The package `tensorboard` is imported only if there is a writer.
"""

import functools
import importlib
import io
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.image import convert_image_dtype
from frontends.tf.summary.writer import default_writer, get_step, require_tensorboard

_BUCKETS = 30


def scalar(
    name: str, data: TensorLike, step: TensorLike = None, description: str | None = None
) -> bool:
    """Writes a number.

    Args:
        name: of the curve.
        data: a number, or an array or variable of shape `()`; it is written as float32.
        step: position on the curve; None for `tf.summary.experimental.get_step()`.
        description: shown on the page, in Markdown.

    Returns:
        Whether it was written: False without a default writer.

    Raises:
        ValueError: it is not a single number, there is no step, or the value is a tracer.

    Examples:
        >>> from frontends import tf
        >>> tf.summary.scalar("loss", 0.5, step=1)  # there is no writer
        False

    Source: `tf.summary.scalar`.
    """

    def make() -> Any:
        value = _numpy(name, data)
        if value.shape != () or not _is_real(value.dtype):
            raise ValueError(
                f"tf.summary.scalar({name!r}) takes one number, but got an array of shape {value.shape} and "
                f"dtype {value.dtype}. Reduce it first: tf.reduce_mean(x)."
            )
        return value.astype(np.float32)

    return write(name, make, step, functools.partial(_metadata, "scalar", description))


def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike = None,
    buckets: int | None = None,
    description: str | None = None,
) -> bool:
    """Writes the distribution of numbers of any shape, as `buckets` bars of equal width, 30 by default.

    `step` and the result are as of `scalar`.

    Raises:
        ValueError: there is no step, or the value is a tracer.

    Source: `tf.summary.histogram`.
    """

    def make() -> Any:
        count = _BUCKETS if buckets is None else max(buckets, 0)
        return _buckets(_numpy(name, data).astype(np.float64).reshape(-1), count)

    return write(name, make, step, functools.partial(_metadata, "histogram", description))


def image(
    name: str,
    data: TensorLike,
    step: TensorLike = None,
    max_outputs: int = 3,
    description: str | None = None,
) -> bool:
    """Writes the first `max_outputs` of several images; `step` and the result are as of `scalar`.

    Args:
        data: `[images, height, width, channels]`; 1 channel is grey, 2 are grey and alpha, 3 RGB, 4 RGBA.
            Floats are from 0 to 1, integers from 0 to the largest of their dtype; others are clipped.

    Raises:
        ValueError: the shape is another, there is no step, or the value is a tracer.

    Source: `tf.summary.image`.
    """

    def make() -> Any:
        pixels = _numpy(name, data)
        if pixels.ndim != 4 or pixels.shape[3] not in (1, 2, 3, 4):
            raise ValueError(
                f"tf.summary.image({name!r}) takes images of shape [images, height, width, channels] with 1 to "
                f"4 channels, but got shape {pixels.shape}. For one image write image[None]; without "
                "channels, image[..., None]."
            )
        height, width = pixels.shape[1:3]
        pixels = np.asarray(convert_image_dtype(pixels[:max_outputs], np.uint8, saturate=True))
        return np.array([str(width).encode(), str(height).encode(), *map(_png, pixels)], object)

    return write(name, make, step, functools.partial(_metadata, "image", description))


def text(
    name: str, data: TensorLike, step: TensorLike = None, description: str | None = None
) -> bool:
    """Writes a string in Markdown, or an array of strings as a table; `step` and the result are as of `scalar`.

    Raises:
        ValueError: it is not a string, or there is no step.

    Source: `tf.summary.text`.
    """

    def make() -> Any:
        texts = _numpy(name, data)
        if texts.dtype.kind not in "OSU":
            raise ValueError(
                f"tf.summary.text({name!r}) takes text, but got an array of {texts.dtype}. "
                "Write str(x)."
            )
        return texts

    return write(name, make, step, functools.partial(_metadata, "text", description))


def write(
    tag: str,
    tensor: TensorLike | Callable[[], TensorLike],
    step: TensorLike = None,
    metadata: TensorLike = None,
    name: str | None = None,
) -> bool:
    """Writes an array for a plugin of TensorBoard; `step` and the result are as of `scalar`.

    Args:
        tensor: an array, or a function that returns it, called only if there is a writer.
        metadata: TensorBoard's `SummaryMetadata`, its bytes, or a function like `tensor`; it names the plugin.

    Raises:
        ValueError: there is no step, or the value is a tracer.

    Source: `tf.summary.write`.
    """
    writer = default_writer()
    if writer is None:
        return False
    from tensorboard.util.tensor_util import make_tensor_proto

    number = _step(tag, get_step() if step is None else step)
    array = _numpy(tag, tensor() if callable(tensor) else tensor)
    array = array.astype(object) if array.dtype.kind in "SU" else array
    metadata = metadata() if callable(metadata) else metadata
    event = require_tensorboard()[0].Event(step=number)
    value = event.summary.value.add(tag=tag, tensor=make_tensor_proto(array))
    if isinstance(metadata, bytes):
        value.metadata.ParseFromString(metadata)
    elif metadata is not None:
        value.metadata.CopyFrom(metadata)
    writer.append(event)
    return True


def _metadata(plugin: str, description: str | None) -> Any:
    """Names the plugin of TensorBoard that shows an array, and describes the array."""
    module = importlib.import_module(f"tensorboard.plugins.{plugin}.metadata")
    return module.create_summary_metadata(None, description)


def _step(tag: str, step: TensorLike) -> int:
    if step is None:
        raise ValueError(
            f"The summary {tag!r} has no step: give the argument step, or one for all summaries: "
            "tf.summary.experimental.set_step(step)."
        )
    try:
        return operator.index(_numpy(tag, step)[()])
    except TypeError:
        raise TypeError(
            f"The step of the summary {tag!r} must be an integer, but it is {step!r}."
        ) from None


def _numpy(tag: str, value: TensorLike) -> Any:
    try:
        return np.asarray(
            jax.tree.map(np.asarray, value) if isinstance(value, (list, tuple)) else value
        )
    except jax.errors.TracerArrayConversionError:
        raise ValueError(
            f"The summary {tag!r} has a value that a program computes: it is not known while tf.function or "
            "strategy.run traces the program. Return the value, and write the summary after the call."
        ) from None


def _is_real(dtype: np.dtype[Any]) -> bool:
    # NumPy itself does not count bfloat16 as a number.
    return any(jnp.issubdtype(dtype, kind) for kind in (jnp.bool_, jnp.integer, jnp.floating))


def _buckets(values: np.ndarray[Any, Any], count: int) -> Any:
    """Returns the rows (left edge, right edge, count) of a histogram."""
    if not values.size or not count:
        return np.zeros((count, 3))
    least, largest = values.min(), values.max()
    if least == largest:
        counts = np.zeros(count)
        counts[-1] = values.size
        return np.stack([np.full(count, least), np.full(count, least), counts], axis=1)
    indices = np.floor((values - least) / ((largest - least) / count)).astype(int)
    counts = np.bincount(np.minimum(indices, count - 1), minlength=count)
    edges = np.linspace(least, largest, count + 1)
    return np.stack([edges[:-1], edges[1:], counts], axis=1)


def _png(pixels: np.ndarray[Any, Any]) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(out, "png")
    return out.getvalue()
