"""Scalars, histograms, images, clips of audio and texts, in the formats of TensorBoard's own plugins.

The package `tensorboard` is imported only if there is a writer.
"""

import functools
import importlib
import io
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.audio import encode_wav
from frontends.tf.image import convert_image_dtype
from frontends.tf.ops.convert import is_tensor
from frontends.tf.ops.host_calls import call_back
from frontends.tf.ops.name_scope import in_name_scope
from frontends.tf.summary.writer import (
    SummaryWriter,
    default_writer,
    get_step,
    require_tensorboard,
    should_record_summaries,
)
from spmd import _jax_internals
from spmd.replica import is_first_of_process

_BUCKETS = 30
# The number of this encoding in the protocol buffers of TensorBoard.
_WAV = 11


def scalar(
    name: str, data: TensorLike, step: TensorLike = None, description: str | None = None
) -> Any:
    """Writes a number.

    Args:
        name: of the curve.
        data: a number, or an array or variable of shape `()`; it is written as float32.
        step: position on the curve; None for `tf.summary.experimental.get_step()`.
        description: shown on the page, in Markdown.

    Returns:
        Whether it was written: False without a default writer. In a model function, where there is no step: what was
        collected for its estimator to write.

    Raises:
        ValueError: it is not a single number, or there is no step.

    Examples:
        >>> from frontends import tf
        >>> tf.summary.scalar("loss", 0.5, step=1)  # there is no writer
        False

    Source: `tf.summary.scalar`.
    """

    def check(value: Any) -> None:
        if value.shape != () or not _is_real(value.dtype):
            raise ValueError(
                f"tf.summary.scalar({name!r}) takes one number, but got an array of shape {value.shape} and "
                f"dtype {value.dtype}. Reduce it first: tf.reduce_mean(x)."
            )

    return _write(
        in_name_scope(name),
        data,
        step,
        functools.partial(_metadata, "scalar", description),
        lambda value: value.astype(np.float32),
        check,
    )


def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Any:
    """Writes the distribution of numbers of any shape, as `buckets` bars of equal width, 30 by default.

    `step` and the result are as of `scalar`.

    Raises:
        ValueError: there is no step.

    Source: `tf.summary.histogram`.
    """
    count = _BUCKETS if buckets is None else max(buckets, 0)
    return _write(
        in_name_scope(name),
        data,
        step,
        functools.partial(_metadata, "histogram", description),
        lambda values: _buckets(values.astype(np.float64).reshape(-1), count),
    )


def image(
    name: str,
    data: TensorLike,
    step: TensorLike = None,
    max_outputs: int = 3,
    description: str | None = None,
) -> Any:
    """Writes the first `max_outputs` of several images; `step` and the result are as of `scalar`.

    Args:
        data: `[images, height, width, channels]`; 1 channel is grey, 2 are grey and alpha, 3 RGB, 4 RGBA.
            Floats are from 0 to 1, integers from 0 to the largest of their dtype; others are clipped.

    Raises:
        ValueError: the shape is another, or there is no step.

    Source: `tf.summary.image`.
    """

    def check(pixels: Any) -> None:
        if pixels.ndim != 4 or pixels.shape[3] not in (1, 2, 3, 4):
            raise ValueError(
                f"tf.summary.image({name!r}) takes images of shape [images, height, width, channels] with 1 to "
                f"4 channels, but got shape {pixels.shape}. For one image write image[None]; without "
                "channels, image[..., None]."
            )

    def encode(pixels: Any) -> Any:
        height, width = pixels.shape[1:3]
        return np.array([str(width).encode(), str(height).encode(), *map(png, pixels)], object)

    def shown(pixels: Any) -> Any:
        return convert_image_dtype(pixels[:max_outputs], np.uint8, saturate=True)

    metadata = functools.partial(_metadata, "image", description)
    return _write(in_name_scope(name), data, step, metadata, encode, check, shown)


def audio(
    name: str,
    data: TensorLike,
    sample_rate: TensorLike,
    step: TensorLike = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Any:
    """Writes the first `max_outputs` of several clips, as WAV files of 16 bits; `step` and the result are as of `scalar`.

    Args:
        data: `[clips, samples, channels]`, floats from -1 to 1; others are clipped.
        sample_rate: how many samples are in a second; known when a function is traced.
        encoding: None or `"wav"`.

    Raises:
        ValueError: the shape or the encoding is another, or there is no step.

    Source: `tf.summary.audio`.
    """
    if encoding not in (None, "wav"):
        raise ValueError(
            f"tf.summary.audio({name!r}) writes WAV files, but got encoding={encoding!r}. Leave it out."
        )

    def check(clips: Any) -> None:
        if clips.ndim != 3:
            raise ValueError(
                f"tf.summary.audio({name!r}) takes clips of shape [clips, samples, channels], but got shape {clips.shape}. For one "
                "clip of one channel write clip[None, :, None]."
            )

    def encode(clips: Any) -> Any:
        files = [encode_wav(clip, sample_rate).numpy() for clip in clips]
        # TensorBoard shows a label beside each clip.
        return np.array([[file, b""] for file in files], object).reshape(-1, 2)

    return _write(
        in_name_scope(name),
        data,
        step,
        functools.partial(_metadata, "audio", description, encoding=_WAV),
        encode,
        check,
        lambda clips: clips[:max_outputs],
    )


def text(
    name: str, data: TensorLike, step: TensorLike = None, description: str | None = None
) -> Any:
    """Writes a string in Markdown, or an array of strings as a table; `step` and the result are as of `scalar`.

    Raises:
        ValueError: it is not a string, or there is no step.

    Source: `tf.summary.text`.
    """

    def check(texts: Any) -> None:
        if texts.dtype.kind not in "OSU":
            raise ValueError(
                f"tf.summary.text({name!r}) takes text, but got an array of {texts.dtype}. "
                "Write str(x)."
            )

    metadata = functools.partial(_metadata, "text", description)
    return _write(in_name_scope(name), data, step, metadata, check=check)


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
        ValueError: there is no step.

    Source: `tf.summary.write`.
    """
    return _write(tag, tensor, step, metadata)


def _write(
    tag: str,
    data: Any,
    step: TensorLike,
    metadata: Any,
    encode: Callable[[Any], Any] = lambda array: array,
    check: Callable[[Any], None] = lambda array: None,
    prepare: Callable[[Any], Any] = lambda array: array,
) -> Any:
    """Writes an array, now or whenever the program that is traced runs.

    Args:
        tag: its name in the file.
        data: the array, or a function that returns it.
        step: position on the curve.
        metadata: see `write`.
        encode: makes of NumPy's array what is written; called on the host.
        check: raises if the array has the wrong shape or dtype.
        prepare: is called first; the program computes it.

    Returns:
        Whether it was written, or will be.
    """
    writer, wanted = default_writer(), should_record_summaries()
    if writer is None or wanted is False:
        return False
    step = get_step() if step is None else step
    if step is None:
        raise ValueError(
            f"The summary {tag!r} has no step: give the argument step, or one for all summaries: "
            "tf.summary.experimental.set_step(step)."
        )
    value = _array(data() if callable(data) else data)
    check(value)
    described = metadata() if callable(metadata) else metadata

    def put(array: Any, number: Any) -> None:
        writer.append(_event(tag, encode(array), int(number), described))

    if not _jax_internals.is_tracing():
        if not is_first_of_process():  # of replicas that run op by op
            return False
        put(np.asarray(prepare(value)), _now(tag, step))
        return True
    _put_when_run(writer, put, prepare(value), _now(tag, step), wanted)
    return wanted


def _put_when_run(
    writer: SummaryWriter, put: Callable[..., None], value: Any, step: Any, wanted: Any
) -> None:
    """Makes the program call `put`, once in each process, as TensorFlow does in its first replica."""

    def late(array: Any, number: Any) -> None:
        if not writer.closed:  # a program may run on after that
            put(array, number)

    def call() -> None:
        if isinstance(value, jax.Array):
            call_back(lambda array, number: late(np.asarray(array), number), value, step)
        else:  # text, which no program computes
            call_back(functools.partial(late, value), step)

    first = is_first_of_process()
    if first is True and wanted is True:
        call()
    else:
        # Not to be asked on the host: what is not written would travel there.
        jax.lax.cond(jnp.logical_and(first, wanted), call, lambda: None)


def _event(tag: str, array: Any, step: int, metadata: Any) -> Any:
    from tensorboard.util.tensor_util import make_tensor_proto

    array = array.astype(object) if array.dtype.kind in "SU" else array
    event = require_tensorboard()[0].Event(step=step)
    value = event.summary.value.add(tag=tag, tensor=make_tensor_proto(array))
    if isinstance(metadata, bytes):
        value.metadata.ParseFromString(metadata)
    elif metadata is not None:
        value.metadata.CopyFrom(metadata)
    return event


def _metadata(plugin: str, description: str | None, **more: Any) -> Any:
    """Names the plugin of TensorBoard that shows an array, and describes the array."""
    module = importlib.import_module(f"tensorboard.plugins.{plugin}.metadata")
    return module.create_summary_metadata(None, description, **more)


def _now(tag: str, step: TensorLike) -> Any:
    """Reads the step: an integer, or an array of the program."""
    number = _array(step)
    if number.shape != () or not jnp.issubdtype(number.dtype, jnp.integer):
        raise TypeError(f"The step of the summary {tag!r} must be an integer, but it is {step!r}.")
    return number


def _array(value: Any) -> Any:
    """Makes an array: of JAX where a program computes it, otherwise NumPy's."""
    if is_tensor(value) and _jax_internals.is_tracing():
        return jnp.asarray(value)
    if isinstance(value, (list, tuple)):
        parts = list(map(_array, value))
        if any(isinstance(part, jax.Array) for part in parts):
            return jnp.stack(parts)
        return np.asarray(parts)
    return np.asarray(value)


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


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Encodes an image, `[height, width, channels]`."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(out, "png")
    return out.getvalue()
