"""One device: the script for many, on the device that was named."""

import jax
import numpy as np
import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("name", "index"), [("/cpu:0", 0), ("cpu:2", 2), ("/job:localhost/task:0/device:CPU:1", 1)]
)
def test_it_runs_where_it_was_told(name, index):
    strategy = tf.distribute.OneDeviceStrategy(device=name)
    assert strategy.num_replicas_in_sync == 1
    (value,) = strategy.run(lambda x: x + 1, args=(np.float32(1),)).values
    assert value.devices() == {jax.devices("cpu")[index]}
    assert float(value) == 2.0


def test_it_is_a_strategy_in_force():
    strategy = tf.distribute.OneDeviceStrategy("cpu:1")
    with strategy.scope():
        assert tf.distribute.has_strategy()
        assert tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_strategy() is strategy


def test_batches_go_whole_to_the_device():
    strategy = tf.distribute.OneDeviceStrategy("cpu:1")
    batches = list(strategy.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2)))
    assert [[v.tolist() for v in batch.values] for batch in batches] == [[[0, 1]], [[2, 3]], [[4]]]
    assert batches[0].values[0].devices() == {jax.devices("cpu")[1]}


def test_a_device_that_is_not_there():
    with pytest.raises(ValueError, match=r"'/cpu:64'.*cpu:0"):
        tf.distribute.OneDeviceStrategy("/cpu:64")


def test_one_device_means_one():
    """A name without an index stands for all devices of its kind elsewhere, but not here."""
    assert tf.distribute.OneDeviceStrategy("CPU").num_replicas_in_sync == 1
