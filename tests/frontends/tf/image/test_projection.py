"""Projective transformations; recorded cases hold the pixels to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


def test_a_shift_by_one_pixel():
    image = np.arange(4, dtype=np.uint8).reshape(1, 2, 2, 1)
    found = tf.raw_ops.ImageProjectiveTransformV2(
        images=image,
        transforms=[[1.0, 0, 1, 0, 1, 0, 0, 0]],
        output_shape=[2, 2],
        interpolation="NEAREST",
    )
    assert found.ravel().tolist() == [1, 0, 3, 0]
    assert found.dtype == tf.uint8


def test_modes_that_do_not_exist():
    with pytest.raises(ValueError, match="got CUBIC and CONSTANT"):
        tf.raw_ops.ImageProjectiveTransformV3(
            images=np.zeros((1, 2, 2, 1), np.float32),
            transforms=np.zeros((1, 8), np.float32),
            output_shape=[2, 2],
            interpolation="CUBIC",
        )
