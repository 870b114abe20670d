"""Operators of ragged tensors; tests/golden compares with TensorFlow."""

import numpy as np
import pytest

from frontends import tf

ROWS = tf.ragged.constant([[1, 2], [], [3]])


def test_an_array_of_numpy_leaves_the_operator_to_the_ragged_tensor():
    assert (np.array([[10], [20], [30]]) + ROWS).to_list() == [[11, 12], [], [33]]


def test_one_entry_goes_with_all_of_a_row():
    column = tf.expand_dims(tf.constant([10, 20, 30]), 1)
    ragged = tf.RaggedTensor.from_uniform_row_length(np.array([10, 20, 30]), 1)
    assert (ROWS * column).to_list() == (ROWS * ragged).to_list() == [[10, 20], [], [90]]


@pytest.mark.parametrize("other", [np.ones((2, 3, 4)), np.ones(2)])
def test_shapes_must_fit(other):
    with pytest.raises(ValueError, match="broadcast"):
        _ = ROWS + other
