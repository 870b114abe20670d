"""Sums of chosen rows; their numbers are compared with TensorFlow's in tests/golden/scenarios/various.py."""

import numpy as np
import pytest

from frontends import tf


def test_the_number_of_segments_is_known_or_given():
    rows, ids = tf.constant([[1.0], [2.0], [4.0]]), tf.constant([0, 0, 1])
    found = tf.sparse.segment_sum(rows, [2, 0, 2], ids)
    np.testing.assert_array_equal(found, [[5.0], [4.0]])
    np.testing.assert_array_equal(
        tf.sparse.segment_mean(rows, [2, 0, 2], ids, num_segments=3), [[2.5], [4.0], [0.0]]
    )

    @tf.function
    def combine(ids):
        return tf.sparse.segment_sqrt_n(rows, [2, 0, 2], ids)

    with pytest.raises(ValueError, match="programs have fixed shapes"):
        combine(ids)
