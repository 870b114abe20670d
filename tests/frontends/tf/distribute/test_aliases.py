"""Strategies' methods under their names in TensorFlow 1."""

import pytest

from frontends import tf


def strategy_of(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def test_make_input_fn_iterator_takes_one_mode():
    mode = tf.distribute.InputReplicationMode.PER_REPLICA
    with pytest.raises(ValueError, match="PER_WORKER"):
        strategy_of().make_input_fn_iterator(lambda _: None, mode)


def test_aliases_call_what_a_subclass_overrides():
    class Strategy(tf.distribute.MirroredStrategy):
        def run(self, fn, args=(), kwargs=None, options=None):
            return "run", fn, args, kwargs

        def experimental_local_results(self, value):
            return ("local", value)

    strategy = Strategy(["cpu:0"])
    assert strategy.experimental_run_v2(len, (1,), {"a": 2}) == ("run", len, (1,), {"a": 2})
    assert strategy.unwrap(3) == ("local", 3)
