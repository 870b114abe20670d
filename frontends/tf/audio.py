"""`tf.audio`: WAV files, on the host."""

import io
import wave
from typing import Any, NamedTuple

import numpy as np

from frontends.tf import _names
from frontends.tf._typing import HostLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.io.host_values import texts_of
from frontends.tf.ops.convert import known


class DecodeWav(NamedTuple):
    """Samples of a file, and how many of them are in a second."""

    audio: Any
    sample_rate: Any


def decode_wav(
    contents: HostLike,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> DecodeWav:
    """Reads a WAV file of 16 bits.

    Args:
        contents: the file's bytes.
        desired_channels: how many channels: of fewer, the last one is repeated; -1 takes those that there are.
        desired_samples: how many samples of a channel, with zeros behind them; -1 takes those that there are.

    Returns:
        The samples from -1 to 1, shape (samples, channels), and their rate, int32.

    Raises:
        ValueError: it is no such file.

    Source: `tf.audio.decode_wav`.
    """
    texts, _ = texts_of(contents, "decode_wav: contents")
    try:
        with wave.open(io.BytesIO(texts[0])) as file:
            if file.getsampwidth() != 2:
                raise wave.Error(f"it has {8 * file.getsampwidth()} bits a sample")
            channels, rate = file.getnchannels(), file.getframerate()
            numbers = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    except (wave.Error, EOFError) as error:
        raise ValueError(
            f"tf.audio.decode_wav: expected a WAV file with 16 bits a sample: {error}. For others, use a package such "
            "as soundfile."
        ) from None
    samples = numbers[: len(numbers) // channels * channels].reshape(-1, channels) / 32768
    if desired_channels > 0:
        samples = samples[:, np.minimum(np.arange(desired_channels), channels - 1)]
    if desired_samples >= 0:
        samples = samples[:desired_samples]
        samples = np.pad(samples, [(0, desired_samples - len(samples)), (0, 0)])
    return DecodeWav(as_tensors(samples.astype(np.float32)), as_tensors(np.int32(rate)))


def encode_wav(audio: HostLike, sample_rate: HostLike, name: str | None = None) -> Any:
    """Writes a WAV file of 16 bits.

    Args:
        audio: samples from -1 to 1, shape (samples, channels); others are cut to that.
        sample_rate: how many samples are in a second.

    Returns:
        The file's bytes.

    Raises:
        ValueError: `audio` has another number of axes.

    Source: `tf.audio.encode_wav`.
    """
    samples = np.asarray(known(audio), np.float32)
    if samples.ndim != 2 or not samples.size:
        raise ValueError(
            f"tf.audio.encode_wav: audio must be 2-dimensional, (samples, channels), got shape {samples.shape}. "
            "Write audio[:, None] for one channel."
        )
    scaled = samples * 32768
    numbers = np.clip(np.trunc(scaled + np.copysign(0.5, scaled)), -32768, 32767).astype("<i2")
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(int(np.asarray(known(sample_rate))))
        file.writeframes(numbers.tobytes())
    return as_tensors(stream.getvalue())


_TABLE = {"decode_wav": decode_wav, "encode_wav": encode_wav}
__getattr__, __dir__ = _names.attributes("tf.audio", _TABLE)
