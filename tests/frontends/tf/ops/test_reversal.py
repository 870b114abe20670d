"""Reversed beginnings."""

import numpy as np

from frontends import tf


def test_the_first_entries_of_each_row_are_reversed():
    x = np.array([[1, 2, 3], [4, 5, 6]])
    assert tf.reverse_sequence(x, [2, 3], seq_axis=1).tolist() == [[2, 1, 3], [6, 5, 4]]
    assert tf.reverse_sequence(x.T, [2, 3], 0, 1).tolist() == [[2, 6], [1, 5], [3, 4]]
    assert tf.reverse_sequence(x, [2, 0], seq_dim=1, batch_dim=0).tolist() == [[2, 1, 3], [4, 5, 6]]
