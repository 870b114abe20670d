"""Bins and sorted numbers; recorded cases hold the numbers to TensorFlow's."""

import pytest

from frontends import tf


def test_numbers_outside_of_the_range_count_at_its_ends():
    assert tf.histogram_fixed_width([-9.0, 0.5, 9.0], [0.0, 1.0], 2).tolist() == [1, 2]


def test_rows_are_searched_one_by_one():
    assert tf.searchsorted([[1, 2], [3, 4]], [[2], [2]]).tolist() == [[1], [0]]
    with pytest.raises(ValueError, match=r"leading dimensions"):
        tf.searchsorted([[1, 2]], [1])
