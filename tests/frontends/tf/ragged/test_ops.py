"""Functions that make ragged tensors; tests/golden compares with TensorFlow."""

import numpy as np
import pytest

from frontends import tf


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match="may not be empty"):
        tf.ragged.stack([])
    with pytest.raises(ValueError, match="out of bounds"):
        tf.ragged.stack([[1]], axis=5)
    with pytest.raises(TypeError, match="mask must be bool"):
        tf.ragged.boolean_mask([1, 2], [1, 0])
    with pytest.raises(ValueError, match="partitions must be from 0 to 1"):
        tf.ragged.stack_dynamic_partitions([1], [2], 2)
    with pytest.raises(ValueError, match="incompatible with"):
        tf.ragged.constant([[[1, 2]]], ragged_rank=1, inner_shape=(2, 1))


def test_no_ragged_argument():
    assert tf.ragged.map_flat_values(np.negative, np.array([1])).tolist() == [-1]
