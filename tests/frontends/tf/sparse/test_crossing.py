"""Combinations of values; recorded cases hold texts and numbers to TensorFlow's."""

import pytest

from frontends import tf


def test_inputs_have_one_number_of_rows():
    with pytest.raises(ValueError, match=r"one number of rows, got \[1, 2\]"):
        tf.sparse.cross([[["a"]], [["b"], ["c"]]])
    with pytest.raises(TypeError, match="must be a list"):
        tf.sparse.cross("ab")


def test_rows_without_values_have_no_combination():
    lists = tf.ragged.constant([["a"], []])
    assert tf.ragged.cross([lists, lists]).to_list() == [[b"a_X_a"], []]
    assert tf.ragged.cross_hashed([lists, lists], 5).to_list()[1] == []
