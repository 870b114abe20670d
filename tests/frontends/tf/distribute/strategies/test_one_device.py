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


@pytest.mark.parametrize(
    "make",
    [
        tf.distribute.get_strategy,
        lambda: tf.distribute.OneDeviceStrategy("/cpu:1"),
        lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
    ],
)
def test_with_one_replica_batches_and_results_can_be_used_as_tensors(make):
    strategy = make()
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(5.0, dtype=np.float32)).batch(2)
    total, seen = 0.0, []
    for batch in strategy.experimental_distribute_dataset(dataset):
        seen.append((batch.shape, batch.numpy().tolist(), float(tf.reduce_mean(batch))))
        loss = strategy.run(lambda x: tf.reduce_sum(x) * 2.0, args=(batch,))
        total += loss / 2.0
        assert f"{loss:.1f}" == f"{2 * batch.numpy().sum():.1f}"
    # The last batch is a row short, which does not show, as in TensorFlow.
    assert seen == [((2,), [0, 1], 0.5), ((2,), [2, 3], 2.5), ((1,), [4], 4.0)]
    assert total.numpy() == 10.0


def test_with_one_replica_results_can_be_used_as_tensors_in_a_function():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")

    @tf.function
    def step(batch):
        loss = strategy.run(tf.reduce_sum, args=(batch,))
        with pytest.raises(AttributeError, match="Return it from the function"):
            loss.numpy()
        return 2.0 * loss + 1.0, tf.reduce_mean(batch)

    dataset = tf.data.Dataset.from_tensor_slices(np.arange(3.0, dtype=np.float32)).batch(2)
    found = [step(batch) for batch in strategy.experimental_distribute_dataset(dataset)]
    assert [[float(value) for value in values] for values in found] == [[3.0, 0.5], [5.0, 2.0]]
