"""WAV files; recorded cases hold bytes and numbers to TensorFlow's."""

import io
import wave

import pytest

from frontends import tf


def test_files_of_eight_bits_are_refused():
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setparams((1, 1, 8000, 2, "NONE", ""))
        file.writeframes(b"\0\0")
    with pytest.raises(ValueError, match="8 bits a sample"):
        tf.audio.decode_wav(stream.getvalue())
