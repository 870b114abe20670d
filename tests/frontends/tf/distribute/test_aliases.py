"""Strategies' methods under their names in TensorFlow 1."""

import pytest

from frontends import tf


def strategy_of(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def test_make_input_fn_iterator_takes_one_mode():
    mode = tf.distribute.InputReplicationMode.PER_REPLICA
    with pytest.raises(ValueError, match="PER_WORKER"):
        strategy_of().make_input_fn_iterator(lambda _: None, mode)
