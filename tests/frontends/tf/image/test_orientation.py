"""Flips and turns."""

import numpy as np
import pytest

from frontends import tf

IMAGE = np.arange(12).reshape(2, 3, 2).astype(np.float32)


def test_turns_counterclockwise():
    np.testing.assert_array_equal(tf.image.rot90(IMAGE), np.rot90(IMAGE))
    np.testing.assert_array_equal(tf.image.rot90(tf.constant(IMAGE), k=-1), np.rot90(IMAGE, 3))
    np.testing.assert_array_equal(tf.image.transpose(IMAGE), IMAGE.swapaxes(0, 1))


def test_flips():
    np.testing.assert_array_equal(tf.image.flip_left_right(IMAGE[None])[0], IMAGE[:, ::-1])
    np.testing.assert_array_equal(tf.image.flip_up_down(IMAGE), IMAGE[::-1])
    with pytest.raises(ValueError, match="3 to 4 axes"):
        tf.image.flip_up_down(IMAGE[0])
