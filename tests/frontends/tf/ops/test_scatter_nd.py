"""Functions that put elements into arrays by coordinates, against NumPy."""

import jax
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.comparing import same

X = np.arange(6, dtype=np.float32).reshape(3, 2)
I32 = np.int32


def test_zeros_get_elements_and_slices():
    same(tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4]), np.array([0, 12, 0, 6], I32))
    same(
        tf.scatter_nd([[0, 1], [2, 0]], [1.5, 2.5], tf.constant([3, 2])),
        _with({(0, 1): 1.5, (2, 0): 2.5}),
    )
    same(tf.scatter_nd([[1]], [[3.0, 4.0]], (3, 2)), np.array([[0, 0], [3, 4], [0, 0]], np.float32))


def _with(places):
    zeros = np.zeros((3, 2), np.float32)
    for place, value in places.items():
        zeros[place] = value
    return zeros


@pytest.mark.parametrize(
    ("name", "row"),
    [("update", [9, 2]), ("add", [11, 5]), ("sub", [-7, 1]), ("max", [9, 3]), ("min", [2, 2])],
)
def test_a_copy_is_changed(name, row):
    function = getattr(tf, f"tensor_scatter_nd_{name}")
    expected = np.array([[0, 1], row, [4, 5]], np.float32)
    for call in (function, tf.function(function)):
        same(call(tf.constant(X), tf.constant([[1]]), [[9.0, 2.0]]), expected)
    assert function.__name__ == f"tensor_scatter_nd_{name}"


def test_gradients_go_to_both():
    x, rows = tf.Variable(X), tf.Variable([[1.0, 1.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tensor_scatter_nd_update(x, [[1]], rows) ** 2)
    of_x, of_rows = tape.gradient(y, [x, rows])
    same(of_x, np.array([[0, 2], [0, 0], [8, 10]], np.float32))
    same(of_rows, np.array([[2, 2]], np.float32))


@pytest.mark.parametrize("wrong", [-1, 4])
def test_places_out_of_range_are_refused_and_left_out_of_programs(wrong):
    with pytest.raises(ValueError, match=rf"no element {wrong} along an axis of 4"):
        tf.scatter_nd([[wrong]], [1], [4])
    with pytest.raises(ValueError, match=rf"no element {wrong} along an axis of 4"):
        tf.function(lambda x: tf.scatter_nd([[wrong]], x, [4]))(np.array([1]))
    scattered = jax.jit(lambda places: tf.scatter_nd(places, [1, 2], [4]))(np.array([[wrong], [2]]))
    same(scattered, np.array([0, 0, 2, 0], I32))
