"""Functions of `tf.signal` beside plain Fourier transforms: cosine transforms, inverses, windows and mel filters."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import i0e

from frontends.tf._typing import Axis, DTypeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, static_axes, static_int
from frontends.tf.ops.spectral import frame, hann_window

# HTK's mel scale.
_BREAK_HERTZ, _HIGH_QUALITY = 700.0, 1127.0


def _basis(kind: int, size: int) -> np.ndarray:
    """The matrix of a cosine transform without normalization: rows are of the input, columns of the result."""
    n, k = np.arange(size)[:, None], np.arange(size)[None]
    if kind == 1:
        made = 2 * np.cos(np.pi * n * k / (size - 1))
        made[[0, -1]] /= 2
        return made
    if kind == 2:
        return 2 * np.cos(np.pi * k * (2 * n + 1) / (2 * size))
    if kind == 3:
        made = 2 * np.cos(np.pi * n * (2 * k + 1) / (2 * size))
        made[0] /= 2
        return made
    return 2 * np.cos(np.pi * (2 * n + 1) * (2 * k + 1) / (4 * size))


def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Transforms real numbers in the last axis by cosines.

    Args:
        input: shape (..., samples).
        type: 1 to 4.
        n: how many samples to take, zeros behind them; None means all.
        axis: -1.
        norm: None, or `"ortho"`, not for type 1.

    Raises:
        ValueError: an argument is none of these.

    Source: `tf.signal.dct`.
    """
    x = convert_to_tensor(input)
    if axis != -1 or type not in (1, 2, 3, 4) or norm not in (None, "ortho") or (n or 1) < 1:
        raise ValueError(
            "tf.signal.dct: expected axis=-1, a type from 1 to 4, norm None or 'ortho' and a positive n, got "
            f"axis={axis}, type={type}, norm={norm!r} and n={n}."
        )
    if type == 1 and (norm == "ortho" or x.shape[-1] < 2):
        raise ValueError("tf.signal.dct: type 1 has no norm, and needs two samples at least.")
    size = x.shape[-1] if n is None else n
    x = x[..., :size]
    x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, size - x.shape[-1])])
    basis = _basis(type, size)
    if norm == "ortho":
        weights = np.full(size, np.sqrt(1 / (2 * size)))
        if type == 2:
            weights[0] = np.sqrt(1 / (4 * size))
            basis = basis * weights
        elif type == 3:
            weights[0] = np.sqrt(1 / size)
            basis = basis * weights[:, None]
        else:
            basis = basis * weights
    return jnp.matmul(x, jnp.asarray(basis, x.dtype), precision=jax.lax.Precision.HIGHEST)


def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Transforms back what `dct` made; without a norm, up to a factor of twice the samples, as in TensorFlow.

    Source: `tf.signal.idct`.
    """
    return dct(input, {1: 1, 2: 3, 3: 2, 4: 4}.get(type, type), n, axis, norm)


def overlap_and_add(
    signal: TensorLike, frame_step: TensorLike, name: str | None = None
) -> jax.Array:
    """Adds up frames that overlap.

    Args:
        signal: shape (..., frames, frame_length).
        frame_step: samples from the begin of a frame to that of the next.

    Returns:
        Shape (..., (frames - 1) * frame_step + frame_length).

    Source: `tf.signal.overlap_and_add`.
    """
    frames, step = convert_to_tensor(signal), static_int(frame_step)
    count, length = frames.shape[-2:]
    places = jnp.arange(count)[:, None] * step + jnp.arange(length)[None]
    made = jnp.zeros((*frames.shape[:-2], (count - 1) * step + length), frames.dtype)
    return made.at[..., places].add(frames)


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> jax.Array:
    """Makes signals of what `stft` returned.

    Args:
        stfts: shape (..., frames, fft_length // 2 + 1).
        frame_length: see `stft`.
        frame_step: see `stft`.
        fft_length: see `stft`.
        window_fn: that of `inverse_stft_window_fn(frame_step)` undoes a Hann window; None for no window.

    Source: `tf.signal.inverse_stft`.
    """
    length = static_int(frame_length)
    size = 1 << (length - 1).bit_length() if fft_length is None else static_int(fft_length)
    frames = jnp.fft.irfft(convert_to_tensor(stfts), size)
    missing = max(length - size, 0)
    frames = jnp.pad(frames, [(0, 0)] * (frames.ndim - 1) + [(0, missing)])[..., :length]
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(
    frame_step: TensorLike,
    forward_window_fn: Callable[..., Any] = hann_window,
    name: str | None = None,
) -> Callable[..., jax.Array]:
    """Makes the window for `inverse_stft` that gives back the signal which `stft` had with another window.

    Source: `tf.signal.inverse_stft_window_fn`.
    """

    def window(frame_length: TensorLike, dtype: DTypeLike) -> jax.Array:
        length, step = static_int(frame_length), static_int(frame_step)
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = jnp.pad(jnp.square(forward), (0, overlaps * step - length))
        total = jnp.tile(squares.reshape(overlaps, step).sum(0), overlaps)[:length]
        return jnp.where(total == 0, 0, forward / jnp.where(total == 0, 1, total))

    return window


def kaiser_window(
    window_length: TensorLike,
    beta: float = 12.0,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> jax.Array:
    """Makes Kaiser's window; a larger `beta` makes it narrower.

    Source: `tf.signal.kaiser_window`.
    """
    size = static_int(window_length)
    if size == 1:
        return jnp.ones(1, jax_dtype(dtype))
    half = (size - 1) / 2
    places = np.arange(size) - half
    scaled = jnp.asarray(beta * np.sqrt(np.maximum(1 - (places / half) ** 2, 0)), jnp.float32)
    window = jnp.exp(scaled - beta) * i0e(scaled) / i0e(jnp.float32(beta))
    return window.astype(jax_dtype(dtype))


def kaiser_bessel_derived_window(
    window_length: TensorLike,
    beta: float = 12.0,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> jax.Array:
    """Makes the window of roots of running totals of Kaiser's, for `mdct`.

    Source: `tf.signal.kaiser_bessel_derived_window`.
    """
    half = static_int(window_length) // 2
    total = jnp.cumsum(kaiser_window(half + 1, beta))
    rising = jnp.sqrt(total[:-1] / total[-1])
    return jnp.concatenate([rising, rising[::-1]]).astype(jax_dtype(dtype))


def vorbis_window(
    window_length: TensorLike, dtype: DTypeLike = "float32", name: str | None = None
) -> jax.Array:
    """Makes the window of Vorbis, for `mdct`.

    Source: `tf.signal.vorbis_window`.
    """
    size = static_int(window_length)
    inner = np.sin(np.pi / size * (np.arange(size) + 0.5)) ** 2
    return jnp.asarray(np.sin(np.pi / 2 * inner), jax_dtype(dtype))


def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Transforms frames that overlap by half: the modified cosine transform.

    Args:
        signals: shape (..., samples).
        frame_length: a multiple of 4.
        window_fn: called with the length and a dtype; None divides by the root of two.
        pad_end: see `frame`.
        norm: see `dct`.

    Returns:
        Shape (..., frames, frame_length // 2).

    Raises:
        ValueError: the length is no multiple of 4.

    Source: `tf.signal.mdct`.
    """
    length = static_int(frame_length)
    if length % 4:
        raise ValueError(f"tf.signal.mdct: The frame length must be a multiple of 4, got {length}.")
    frames = frame(signals, length, length // 2, pad_end)
    scale = 2**-0.5 if window_fn is None else window_fn(length, dtype=frames.dtype)
    a, b, c, d = jnp.split(frames * scale, 4, axis=-1)
    folded = jnp.concatenate([-jnp.flip(c, -1) - d, a - jnp.flip(b, -1)], -1)
    return dct(folded, type=4, norm=norm)


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Makes signals of what `mdct` returned.

    Source: `tf.signal.inverse_mdct`.
    """
    x = convert_to_tensor(mdcts)
    half = x.shape[-1]
    back = dct(x, type=4, norm=norm) * (1.0 if norm == "ortho" else 0.5 / half)
    first, second = jnp.split(back, 2, axis=-1)
    parts = [second, -jnp.flip(second, -1), -jnp.flip(first, -1), -first]
    frames = jnp.concatenate(parts, -1)
    scale = 2**-0.5 if window_fn is None else window_fn(2 * half, dtype=frames.dtype)
    return overlap_and_add(frames * scale, half)


def fftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> jax.Array:
    """Moves the frequency zero to the middle.

    Source: `tf.signal.fftshift`.
    """
    return jnp.fft.fftshift(convert_to_tensor(x), static_axes(axes))


def ifftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> jax.Array:
    """Moves the frequency zero from the middle to the begin.

    Source: `tf.signal.ifftshift`.
    """
    return jnp.fft.ifftshift(convert_to_tensor(x), static_axes(axes))


def linear_to_mel_weight_matrix(
    num_mel_bins: TensorLike = 20,
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> jax.Array:
    """Makes the matrix that turns spectrograms into mel spectrograms, by multiplication from the right.

    Args:
        num_mel_bins: columns.
        num_spectrogram_bins: rows, `fft_length // 2 + 1`.
        sample_rate: samples in a second.
        lower_edge_hertz: where the first band begins.
        upper_edge_hertz: where the last band ends.
        dtype: of the matrix.

    Raises:
        ValueError: the edges are no interval of the frequencies that there are.

    Source: `tf.signal.linear_to_mel_weight_matrix`.
    """
    bands, bins = static_int(num_mel_bins), static_int(num_spectrogram_bins)
    rate = float(np.asarray(sample_rate))
    low, high = float(lower_edge_hertz), float(upper_edge_hertz)
    if bands <= 0 or not 0 <= low < high or rate <= 0 or high > rate / 2:
        raise ValueError(
            "tf.signal.linear_to_mel_weight_matrix: expected num_mel_bins > 0, and 0 <= lower_edge_hertz < "
            f"upper_edge_hertz <= sample_rate / 2, got {bands}, {low}, {high} and {rate} / 2."
        )

    def mel(hertz: Any) -> Any:
        return _HIGH_QUALITY * np.log(1.0 + hertz / _BREAK_HERTZ)

    of_bin = mel(np.linspace(0.0, rate / 2, bins)[1:])[:, None]
    edges = np.linspace(mel(low), mel(high), bands + 2)
    left, center, right = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (of_bin - left) / (center - left), (right - of_bin) / (right - center)
    weights = np.maximum(0.0, np.minimum(rising, falling))
    return jnp.asarray(np.pad(weights, [(1, 0), (0, 0)]), jax_dtype(dtype))


def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> jax.Array:
    """Computes mel-frequency cepstral coefficients, with HTK's scale.

    Args:
        log_mel_spectrograms: shape (..., num_mel_bins).

    Raises:
        ValueError: there are no bins.

    Source: `tf.signal.mfccs_from_log_mel_spectrograms`.
    """
    x = convert_to_tensor(log_mel_spectrograms)
    if not x.shape[-1]:
        raise ValueError(
            f"tf.signal.mfccs_from_log_mel_spectrograms: num_mel_bins must be positive, got shape {x.shape}."
        )
    return dct(x) * jax.lax.rsqrt(jnp.asarray(x.shape[-1] * 2.0, x.dtype))


def _over_axes(
    function: Callable[..., Any],
    x: TensorLike,
    lengths: Sequence[int] | None,
    axes: Axis,
    norm: str | None,
) -> jax.Array:
    over = static_axes(axes)
    over = (over,) if isinstance(over, int) else over
    sizes = None if lengths is None else [int(one) for one in np.asarray(lengths)]
    return function(convert_to_tensor(x), sizes, over, norm)


def fftnd(
    input_tensor: TensorLike,
    fft_length: Sequence[int] | None = None,
    axes: Axis = None,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Transforms complex numbers over axes, or all of them.

    Source: `tf.signal.fftnd`.
    """
    return _over_axes(jnp.fft.fftn, input_tensor, fft_length, axes, norm)


def ifftnd(
    input_tensor: TensorLike,
    fft_length: Sequence[int] | None = None,
    axes: Axis = None,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Transforms back what `fftnd` made.

    Source: `tf.signal.ifftnd`.
    """
    return _over_axes(jnp.fft.ifftn, input_tensor, fft_length, axes, norm)


def rfftnd(
    input_tensor: TensorLike,
    fft_length: Sequence[int] | None = None,
    axes: Axis = None,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Transforms real numbers over axes, or all of them.

    Source: `tf.signal.rfftnd`.
    """
    return _over_axes(jnp.fft.rfftn, input_tensor, fft_length, axes, norm)


def irfftnd(
    input_tensor: TensorLike,
    fft_length: Sequence[int] | None = None,
    axes: Axis = None,
    norm: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """Transforms back what `rfftnd` made.

    Source: `tf.signal.irfftnd`.
    """
    return _over_axes(jnp.fft.irfftn, input_tensor, fft_length, axes, norm)
