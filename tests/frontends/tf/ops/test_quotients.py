"""Quotients and polynomials; recorded cases hold the numbers to TensorFlow's."""

from frontends import tf


def test_quotients_are_rounded_towards_zero():
    assert tf.truncatediv(tf.constant([-7, 7]), 2).tolist() == [-3, 3]
    assert tf.truncatemod(tf.constant([-7, 7]), 2).tolist() == [-1, 1]
