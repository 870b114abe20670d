"""Counts that need a length; recorded cases hold the numbers of the others to TensorFlow's."""

import pytest

from frontends import tf


def test_counts_have_a_length_in_programs():
    count = tf.function(lambda x: tf.math.bincount(x, minlength=4, maxlength=4))
    assert count(tf.constant([1, 1, 3, 7])).tolist() == [0, 2, 0, 1]


def test_a_length_that_only_the_program_knows_is_an_error():
    strategy = tf.distribute.get_strategy()
    with pytest.raises(ValueError, match="Give it the length twice"):
        strategy.run(tf.math.bincount, (tf.constant([1]),))
