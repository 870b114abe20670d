"""Counts without zeros; recorded cases hold the numbers to TensorFlow's."""

import pytest

from frontends import tf


def test_negative_numbers_are_refused():
    with pytest.raises(ValueError, match="non-negative, got -1"):
        tf.sparse.bincount([-1])


def test_each_row_is_counted():
    found = tf.sparse.bincount([[1, 1], [0, 1]], axis=-1)
    assert tf.sparse.to_dense(found).tolist() == [[0, 2], [1, 1]]
