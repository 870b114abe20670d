"""Counts without zeros; recorded cases hold the numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


def test_negative_numbers_are_refused():
    with pytest.raises(ValueError, match="non-negative, got -1"):
        tf.sparse.bincount([-1])


def test_each_row_is_counted():
    found = tf.sparse.bincount([[1, 1], [0, 1]], axis=-1)
    assert tf.sparse.to_dense(found).tolist() == [[0, 2], [1, 1]]


@pytest.mark.parametrize(
    ("values", "arguments", "shape"),
    [
        ([1, 1, 5], {"axis": -1}, [6]),
        ([1, 1, 5], {"axis": -1, "maxlength": 10}, [10]),
        ([1, 1, 5], {"maxlength": 10, "minlength": 12}, [10]),
        ([1, 1, 5], {"minlength": 8}, [8]),
        ([[1, 1, 5]], {"axis": -1, "maxlength": 10}, [1, 10]),
        (np.zeros((0, 3), np.int32), {"axis": -1}, [0, 1]),
        (np.zeros((0, 3), np.int32), {}, [1]),
        (np.zeros((3, 0), np.int32), {"axis": -1}, [3, 1]),
    ],
)
def test_the_shape_of_counts(values, arguments, shape):
    found = tf.sparse.bincount(values, **arguments)
    assert found.dense_shape.numpy().tolist() == shape
    assert found.values.numpy().tolist() == ([2, 1] if np.size(values) else [])
    assert found.values.numpy().dtype == np.int32
