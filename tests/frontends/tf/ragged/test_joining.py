"""Rows of ragged tensors and arrays put together."""

import numpy as np

from frontends import tf
from frontends.tf.ragged.joining import joined


def test_arrays_join_ragged_rows():
    found = joined([tf.ragged.constant([[1], [2, 3]]), np.array([[4, 5]])])
    assert found.to_list() == [[1], [2, 3], [4, 5]]


def test_rows_of_one_length_keep_it():
    uniform = tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2)
    assert joined([uniform, uniform]).uniform_row_length == 2
    assert joined([uniform, tf.ragged.constant([[1]])]).uniform_row_length is None
