"""Cosine transforms and inverses; recorded cases hold the numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


def test_an_inverse_gives_the_signal_back():
    x = np.sin(np.arange(32, dtype=np.float32))
    back = tf.signal.inverse_stft(
        tf.signal.stft(x, 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4)
    )
    np.testing.assert_allclose(back[4:-4], x[4:-4], atol=1e-5)


def test_what_is_no_transform():
    with pytest.raises(ValueError, match="a type from 1 to 4"):
        tf.signal.dct(tf.ones([4]), type=5)
    with pytest.raises(ValueError, match="multiple of 4"):
        tf.signal.mdct(tf.ones([8]), 6)
