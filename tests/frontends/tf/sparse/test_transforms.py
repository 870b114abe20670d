"""Functions that make sparse tensors of others, against dense arrays; tests/golden compares with TensorFlow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontends import tf

ARRAYS = st.lists(st.integers(0, 2), min_size=12, max_size=12).map(
    lambda values: np.array(values, np.int32).reshape(3, 4)
)


@given(ARRAYS, ARRAYS)
def test_dense_arrays_say_the_same(first, second):
    a, b = map(tf.sparse.from_dense, (first, second))
    dense = tf.sparse.to_dense
    np.testing.assert_array_equal(dense(tf.sparse.add(a, b)), first + second)
    np.testing.assert_array_equal(dense(tf.sparse.maximum(a, b)), np.maximum(first, second))
    np.testing.assert_array_equal(dense(tf.sparse.concat(1, [a, b])), np.hstack([first, second]))
    np.testing.assert_array_equal(dense(tf.sparse.reshape(a, [2, -1])), first.reshape(2, 6))
    np.testing.assert_array_equal(dense(tf.sparse.slice(a, [1, 1], [2, 2])), first[1:, 1:3])
    np.testing.assert_array_equal(tf.sparse.reduce_sum(a, 0), first.sum(0))


def test_what_is_dense_already():
    with pytest.raises(TypeError, match="Fix: leave it out"):
        tf.sparse.transpose(np.eye(2))


# Twice an entry in the same place; the results are TensorFlow's.
TWICE = tf.SparseTensor([[0, 1], [0, 1], [1, 0]], np.array([-3, -5, -2], np.float32), [3, 2])


@pytest.mark.parametrize(
    ("axis", "keepdims", "largest", "total"),
    [
        (None, False, -2, -10),
        (None, True, [[-2]], [[-10]]),
        (0, False, [-2, -3], [-2, -8]),
        (-1, False, [-3, -2, 0], [-8, -2, 0]),
        (1, True, [[-3], [-2], [0]], [[-8], [-2], [0]]),
        ([0, 1], False, -2, -10),
    ],
)
def test_reductions(axis, keepdims, largest, total):
    for function, expected in ((tf.sparse.reduce_max, largest), (tf.sparse.reduce_sum, total)):
        found = function(TWICE, axis, keepdims)
        assert (found.tolist(), found.dtype) == (expected, np.float32)
        sparse = function(TWICE, axis, keepdims, output_is_sparse=True)
        array = np.array(expected)
        assert sparse.dense_shape.tolist() == list(array.shape)
        assert sparse.values.tolist() == array[array != 0].tolist()


def test_reductions_need_no_dense_array():
    huge = tf.SparseTensor([[0, 2**31 - 1], [1, 5]], np.array([2, -7], np.int32), [3, 2**31])
    assert tf.sparse.reduce_sum(huge, 1).tolist() == [2, -7, 0]
    assert tf.sparse.reduce_max(huge).item() == 2


def test_entries_whose_sum_is_zero_stay():
    zero = tf.SparseTensor([[0, 0], [0, 1]], [3, -3], [2, 2])
    found = tf.sparse.reduce_sum(zero, 1, output_is_sparse=True)
    assert (found.indices.tolist(), found.values.tolist()) == ([[0]], [0])


def test_there_is_no_such_dimension():
    with pytest.raises(ValueError, match="Invalid reduction dimension 2"):
        tf.sparse.reduce_max(TWICE, 2)
