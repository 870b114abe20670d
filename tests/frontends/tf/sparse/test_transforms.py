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
