"""Batches of elements whose sizes differ."""

import numpy as np
import pytest

from frontends import tf


def test_matrices_become_nested():
    rows = [np.ones((2, 1), int), np.ones((1, 3), int)]
    dataset = tf.data.Dataset.from_generator(lambda: iter(rows))
    (batch,) = dataset.ragged_batch(2)
    assert batch.to_list() == [[[1], [1]], [[1, 1, 1]]]


def test_arrays_of_one_size_stay_dense():
    (batch,) = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).ragged_batch(2)
    assert batch.tolist() == [[1, 2], [3, 4]]


def test_structures_must_be_the_same():
    elements = [(np.ones(1),), (np.ones(1), 2)]
    with pytest.raises(TypeError, match="different structures"):
        list(tf.data.Dataset.from_generator(lambda: iter(elements)).ragged_batch(2))
