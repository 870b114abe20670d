"""Switches of eager execution."""

from frontends import tf


def test_a_block_gives_its_results():
    with tf.experimental.async_scope():
        found = tf.constant(1.0) + 1.0
    tf.experimental.async_clear_error()
    assert found == 2
