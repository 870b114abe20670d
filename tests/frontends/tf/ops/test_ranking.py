"""Sorting, largest entries and counts, against NumPy."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import close

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)


def test_argmax_is_along_axis_0():
    close(tf.argmax(X), X.argmax(0), np.int32)
    close(tf.argmin(input=X, axis=-1, output_type=tf.int32), X.argmin(1), np.int32)
    assert tf.argmax(X, output_type=tf.uint16).dtype == tf.uint16


def test_sorting():
    close(tf.sort(X), np.sort(X))
    close(tf.sort(X, axis=0, direction="DESCENDING"), -np.sort(-X, 0))
    close(tf.argsort(X, direction="DESCENDING"), np.argsort(-X), np.int32)
    with pytest.raises(ValueError, match="DESCENDING"):
        tf.sort(X, direction="down")
    top = tf.math.top_k(X, k=2)
    close(top.values, -np.sort(-X)[:, :2])
    close(top.indices, np.argsort(-X)[:, :2], np.int32)


def test_in_top_k():
    order = np.argsort(-X)
    np.testing.assert_array_equal(tf.math.in_top_k(order[:, 1], X, 2), [True] * 3)
    np.testing.assert_array_equal(tf.math.in_top_k(order[:, 1], X, k=1), [False] * 3)
    ties_and_nan = [[1.0, 1.0, 1.0], [np.nan, np.inf, 0.0]]
    np.testing.assert_array_equal(tf.nn.in_top_k([2, 1], ties_and_nan, 1), [True, False])
    np.testing.assert_array_equal(tf.nn.in_top_k(ties_and_nan, [2, 1], 1), [True, False])


def test_confusion_matrix():
    expected = np.zeros((5, 5), np.int32)
    expected[1, 2] = expected[2, 2] = expected[4, 4] = 1
    close(tf.math.confusion_matrix([1, 2, 4], [2, 2, 4]), expected)
    weighted = tf.math.confusion_matrix([0, 1], [1, 1], 2, weights=[0.5, 2], dtype=tf.float32)
    close(weighted, np.array([[0, 0.5], [0, 2]], np.float32))


def test_a_target_below_zero_is_not_in_the_top():
    assert tf.math.in_top_k([-1], [[0.0, 1.0]], 2).tolist() == [False]
