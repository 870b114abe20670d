"""Several steps in one dispatch: the numbers of a loop, with partial batches and an end."""

import numpy as np
import pytest

import spmd
from frontends import tf

SGD = tf.keras.optimizers.SGD  # imports Keras
ROWS = np.arange(22, dtype=np.float32)


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def training(strategy):
    with strategy.scope():
        weight = tf.Variable(1.0)
        optimizer = SGD(0.01, momentum=0.9)

    def step(x):
        with tf.GradientTape() as tape:
            noise = tf.random.uniform(())
            loss = tf.nn.compute_average_loss((weight * x - 2) ** 2) + 0 * noise
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return loss

    def train(batch):
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    dataset = tf.data.Dataset.from_tensor_slices(ROWS / 10).batch(4)
    return weight, train, strategy.experimental_distribute_dataset(dataset)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_numbers_are_those_of_a_loop(strategy, compiled):
    weight, train, batches = training(strategy)
    expected = [float(train(batch)) for batch in batches]
    last = float(weight)
    weight, train, batches = training(strategy)
    train = tf.function(train) if compiled else train
    iterator = iter(batches)
    losses = [strategy.run_steps(train, iterator, 4) for _ in range(2)]
    assert [len(some) for some in losses] == [4, 2]  # of 6 batches, the last one with 2 rows
    np.testing.assert_allclose(np.concatenate(losses), expected, rtol=1e-6)
    np.testing.assert_allclose(float(weight), last, rtol=1e-6)
    with pytest.raises(tf.errors.OutOfRangeError):
        strategy.run_steps(train, iterator, 4)


def test_several_steps_are_one_program(strategy):
    _, train, batches = training(strategy)
    traced = []

    def counted(batch):
        traced.append(batch)
        return train(batch)

    for _ in range(3):
        strategy.run_steps(counted, iter(batches), 5)
    first = len(traced)
    strategy.run_steps(counted, iter(batches), 5)
    assert len(traced) == first


def test_values_of_single_replicas_are_refused(strategy):
    _, _, batches = training(strategy)
    with pytest.raises(
        spmd.errors.StepOutputError, match=r"strategy\.reduce\('SUM', losses, axis=None\)"
    ):
        strategy.run_steps(
            lambda batch: strategy.run(tf.reduce_sum, args=(batch,)), iter(batches), 2
        )


def test_steps_are_counted_from_one(strategy):
    with pytest.raises(ValueError, match="steps of at least 1, but got 0"):
        strategy.run_steps(lambda batch: batch, iter([]), 0)


def test_what_gives_no_distributed_batches_is_refused(strategy):
    _, train, batches = training(strategy)
    with pytest.raises(TypeError, match=r"iterator = iter\(dist_dataset\)"):
        strategy.run_steps(train, batches, 2)
    with pytest.raises(TypeError, match=r"a batch of ndarray.*experimental_distribute_dataset"):
        strategy.run_steps(train, iter([np.ones(4)]), 2)
    with pytest.raises(TypeError, match="integer"):
        strategy.run_steps(train, iter(batches), 2.5)


def test_a_partial_batch_in_the_group_needs_no_mask(strategy):
    dataset = tf.data.Dataset.from_tensor_slices(ROWS[:10]).batch(4)
    iterator = iter(strategy.experimental_distribute_dataset(dataset))

    def total(batch):
        return strategy.reduce("SUM", strategy.run(lambda x: x.sum(), args=(batch,)), axis=None)

    assert strategy.run_steps(total, iterator, 3).tolist() == [6, 22, 17]


def test_a_variable_keeps_its_type(strategy):
    with strategy.scope():
        count = spmd.Variable(np.int32(0), name="count")
    dataset = tf.data.Dataset.from_tensor_slices(ROWS[:8]).batch(4)

    def half(batch):
        count.value = count.value + np.float32(0.5)
        return strategy.reduce("SUM", strategy.run(lambda x: x.sum(), args=(batch,)), axis=None)

    with pytest.raises(
        spmd.errors.ControlFlowError, match=r"changes count from int32\[\] to float32\[\]"
    ):
        strategy.run_steps(half, iter(strategy.experimental_distribute_dataset(dataset)), 2)
