"""Convolutions of other kinds; recorded cases hold their numbers to TensorFlow's."""

import numpy as np

from frontends import tf

X = np.ones((1, 4, 4, 2), np.float32)


def test_channels_stay_apart():
    kernel = np.ones((2, 2, 2, 1), np.float32) * np.array([1, 10], np.float32)[:, None]
    found = tf.nn.depthwise_conv2d(X, kernel, [1, 1, 1, 1], "VALID")
    assert found[0, 0, 0].tolist() == [4, 40]
    mixed = tf.nn.separable_conv2d(X, kernel, np.ones((1, 1, 2, 1)), [1, 1, 1, 1], "VALID")
    assert mixed.shape == (1, 3, 3, 1)
    assert mixed[0, 0, 0, 0] == 44


def test_transposed_convolutions_have_the_shape_that_is_asked():
    kernel = np.ones((3, 3, 5, 2), np.float32)
    for size in (7, 8):
        assert tf.nn.conv2d_transpose(X, kernel, [1, size, size, 5], 2).shape == (1, size, size, 5)
    assert tf.nn.conv2d_transpose(X, kernel, [8, 8], 2).shape == (1, 8, 8, 5)
    first = np.moveaxis(X, -1, 1)
    found = tf.nn.conv2d_transpose(first, kernel, [8, 8], 2, data_format="NCHW")
    assert found.shape == (1, 5, 8, 8)


def test_other_ranks_and_distances():
    assert tf.nn.conv1d(X[0], np.ones((2, 2, 3)), 2, "SAME").shape == (4, 2, 3)
    assert tf.nn.conv3d(X[None], np.ones((1, 2, 2, 2, 3)), 1, "VALID").shape == (1, 1, 3, 3, 3)
    assert tf.nn.atrous_conv2d(X, np.ones((2, 2, 2, 3)), 2, "VALID").shape == (1, 2, 2, 3)
