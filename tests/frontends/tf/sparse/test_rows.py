"""Sparse matrices of rows."""

import numpy as np
import pytest

from frontends.tf.sparse.rows import sparse_of_rows


@pytest.mark.parametrize(
    ("lengths", "indices", "shape"),
    [
        ([1, 0, 2], [[0, 0], [2, 0], [2, 1]], [3, 2]),
        ([0, 0], [], [2, 0]),
        ([], [], [0, 0]),
    ],
)
def test_values_stand_at_the_begin_of_their_rows(lengths, indices, shape):
    values = np.arange(sum(lengths)) + 5
    made = sparse_of_rows(values, lengths)
    np.testing.assert_array_equal(made.indices, np.reshape(indices, (-1, 2)))
    np.testing.assert_array_equal(made.values, values)
    assert np.asarray(made.dense_shape).tolist() == shape
