"""Bits of integers; recorded cases hold the numbers to TensorFlow's."""

import pytest

from frontends import tf


def test_a_number_takes_the_dtype_of_the_array():
    assert tf.bitwise.left_shift(tf.constant([1, 2], tf.uint8), 7).tolist() == [128, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"bitwise_or: expected two arrays"):
        tf.bitwise.bitwise_or(tf.constant([1]), tf.constant([1], tf.int8))


def test_the_largest_integer_is_not_rounded_up():
    assert tf.saturate_cast(tf.constant([1e20]), tf.int32).tolist() == [2**31 - 1]
