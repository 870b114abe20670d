"""Shapes and values that are known while a program is traced; the results are TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 3], [2, 1], [2, 3]),
        ([None, 3], [2, 1], [2, 3]),
        ([None, 3], [1, 1], [None, 3]),
        ([None], [None], [None]),
        ([3], [2, 1], [2, 3]),
        ([], [4, None], [4, None]),
    ],
)
def test_the_shape_of_two(x, y, expected):
    for pair in ((x, y), (y, x)):
        assert tf.broadcast_static_shape(*map(tf.TensorShape, pair)).as_list() == expected


def test_shapes_of_which_little_is_known_and_that_do_not_fit():
    assert tf.broadcast_static_shape(tf.TensorShape(None), tf.TensorShape([3])).rank is None
    with pytest.raises(ValueError, match=r"Incompatible shapes .*\(2, 3\) and \(3, 1\)"):
        tf.broadcast_static_shape(tf.TensorShape([2, 3]), tf.TensorShape([3, 1]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Incompatible shapes .*\(2, 3\) and \(3, 1\)"
    ):
        tf.broadcast_dynamic_shape([2, 3], tf.constant([3, 1]))


def test_the_shape_of_two_arrays():
    def filled(a, b):
        return tf.zeros(tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b)))

    for call in (filled, tf.function(filled)):
        assert call(tf.ones([1, 3]), tf.ones([2, 1])).shape == (2, 3)
    assert tf.broadcast_dynamic_shape(tf.constant([3]), tf.constant([2, 1])).numpy().tolist() == [
        2,
        3,
    ]


def test_static_values():
    array = tf.get_static_value(tf.constant([1.0, 2.0]))
    assert isinstance(array, np.ndarray)
    assert array.tolist() == [1, 2]
    assert [tf.get_static_value(one) for one in (3, "a", None, tf.Variable(1.0))] == [
        3,
        "a",
        None,
        None,
    ]
    seen = []

    @tf.function
    def function(x):
        seen.append(tf.get_static_value(x))
        seen.append(tf.get_static_value(tf.shape(x)).tolist())
        seen.append(tf.get_static_value([x[0], 3.0]))
        seen.append(tf.get_static_value([x[0], 3.0], partial=True).tolist())
        return x

    function(tf.constant([1.0, 2.0]))
    assert seen == [None, [2], None, [None, 3]]
