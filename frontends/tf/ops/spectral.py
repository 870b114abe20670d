"""Functions of `tf.signal`: Fourier transforms, and what slides a window over a signal."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, named, static_int, static_shape


def _transform(name: str, function: Callable[..., Any], axes: int) -> Callable[..., Any]:
    """Makes the transform of complex numbers over the last axes."""

    def transform(input: TensorLike, name: str | None = None) -> jax.Array:
        return function(convert_to_tensor(input), axes=tuple(range(-axes, 0)))

    return named(name, f"Transforms complex numbers over {axes} axes, the last ones.", transform)


def _real_transform(name: str, function: Callable[..., Any], axes: int) -> Callable[..., Any]:
    """Makes the transform from or to real numbers over the last axes."""

    def transform(
        input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None
    ) -> jax.Array:
        sizes = None if fft_length is None else static_shape(fft_length)
        return function(convert_to_tensor(input_tensor), sizes, axes=tuple(range(-axes, 0)))

    doc = f"Transforms over {axes} axes, the last ones, of which `fft_length` are the sizes; of one side the numbers are real."
    return named(name, doc, transform)


fft = _transform("fft", jnp.fft.fftn, 1)
ifft = _transform("ifft", jnp.fft.ifftn, 1)
fft2d = _transform("fft2d", jnp.fft.fftn, 2)
ifft2d = _transform("ifft2d", jnp.fft.ifftn, 2)
fft3d = _transform("fft3d", jnp.fft.fftn, 3)
ifft3d = _transform("ifft3d", jnp.fft.ifftn, 3)
rfft = _real_transform("rfft", jnp.fft.rfftn, 1)
irfft = _real_transform("irfft", jnp.fft.irfftn, 1)
rfft2d = _real_transform("rfft2d", jnp.fft.rfftn, 2)
irfft2d = _real_transform("irfft2d", jnp.fft.irfftn, 2)
rfft3d = _real_transform("rfft3d", jnp.fft.rfftn, 3)
irfft3d = _real_transform("irfft3d", jnp.fft.irfftn, 3)


def hann_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> jax.Array:
    """Makes a window that rises from 0 to 1 and falls again; `periodic` leaves out the last 0."""
    return _raised_cosine(window_length, periodic, dtype, 0.5)


def hamming_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> jax.Array:
    """Makes a window that rises from 0.08 to 1 and falls again; see `hann_window`."""
    return _raised_cosine(window_length, periodic, dtype, 0.54)


def _raised_cosine(length: TensorLike, periodic: bool, dtype: DTypeLike, a: float) -> jax.Array:
    size = static_int(length)
    if size == 1:
        return jnp.ones(1, jax_dtype(dtype))
    even = 1 - size % 2
    steps = size + (periodic * even) - 1
    angles = 2 * jnp.pi * jnp.arange(size) / steps
    return (a - (1 - a) * jnp.cos(angles)).astype(jax_dtype(dtype))


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int = -1,
    name: str | None = None,
) -> jax.Array:
    """Cuts a signal into frames, which may overlap.

    Args:
        signal: shape (..., samples, ...).
        frame_length: samples of a frame.
        frame_step: samples from the begin of a frame to that of the next.
        pad_end: whether frames that the signal does not fill are padded, not left out.
        pad_value: with what.
        axis: of the samples; it becomes two, of frames and of their samples.

    Source: `tf.signal.frame`.
    """
    x = convert_to_tensor(signal)
    along = axis % x.ndim
    length, step, size = static_int(frame_length), static_int(frame_step), x.shape[along]
    if pad_end:
        count = -(-size // step)
        missing = max(0, (count - 1) * step + length - size)
        pads = [(0, missing if one == along else 0) for one in range(x.ndim)]
        x = jnp.pad(x, pads, constant_values=jnp.asarray(pad_value, x.dtype))
    else:
        count = max(0, 1 + (size - length) // step)
    places = jnp.arange(count)[:, None] * step + jnp.arange(length)[None]
    return jnp.take(x, places, axis=along)


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Transforms the frames of signals: the short-time Fourier transform.

    Args:
        signals: shape (..., samples).
        frame_length: see `frame`.
        frame_step: see `frame`.
        fft_length: None means the smallest power of two that is enough.
        window_fn: called with the length and a dtype; None for no window.
        pad_end: see `frame`.

    Returns:
        Shape (..., frames, fft_length // 2 + 1).

    Source: `tf.signal.stft`.
    """
    length = static_int(frame_length)
    size = 1 << (length - 1).bit_length() if fft_length is None else static_int(fft_length)
    frames = frame(signals, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return jnp.fft.rfft(frames, size)
