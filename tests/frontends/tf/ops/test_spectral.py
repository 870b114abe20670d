"""Fourier transforms and frames; recorded cases hold their numbers to TensorFlow's."""

import numpy as np

from frontends import tf


def test_transforms_undo_each_other():
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_allclose(tf.signal.irfft(tf.signal.rfft(x)), x, atol=1e-5)
    np.testing.assert_allclose(tf.signal.ifft2d(tf.signal.fft2d(x)), x, atol=1e-5)
    assert tf.signal.rfft(x, [6]).shape == (2, 4)


def test_frames_overlap():
    x = np.arange(5)
    assert tf.signal.frame(x, 3, 2).tolist() == [[0, 1, 2], [2, 3, 4]]
    assert tf.signal.frame(x, 3, 2, pad_end=True, pad_value=9).tolist()[-1] == [4, 9, 9]
    assert tf.signal.stft(np.ones(9, np.float32), 4, 2).shape == (3, 3)
    assert tf.signal.stft(np.ones(9, np.float32), 4, 2, window_fn=None)[0, 0] == 4
    assert tf.signal.hann_window(4).tolist() == [0, 0.5, 1, 0.5]
