"""Bits of integers; recorded cases hold the numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


def test_a_number_takes_the_dtype_of_the_array():
    assert tf.bitwise.left_shift(tf.constant([1, 2], tf.uint8), 7).tolist() == [128, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"bitwise_or: expected two arrays"):
        tf.bitwise.bitwise_or(tf.constant([1]), tf.constant([1], tf.int8))


def test_the_largest_integer_is_not_rounded_up():
    assert tf.saturate_cast(tf.constant([1e20]), tf.int32).tolist() == [2**31 - 1]


@pytest.mark.parametrize(
    ("kind", "largest"), [("int32", 65504), ("uint16", 65504), ("int16", 32767), ("int8", 127)]
)
def test_the_range_of_the_input_may_be_the_smaller_one(kind, largest):
    x = tf.constant([np.inf, 65504.0], tf.float16)
    assert tf.saturate_cast(x, kind).tolist() == [largest] * 2
