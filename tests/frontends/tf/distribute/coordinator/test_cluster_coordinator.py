"""Functions, handed out to workers that share variables."""

import functools
import threading

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.distribute.coordinator.clusters import strategy as make_strategy

ROWS = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
TARGETS = (ROWS @ np.arange(8, dtype=np.float32))[:, None]


@pytest.fixture
def strategy():
    return make_strategy(4, 2)


@pytest.fixture
def coordinator(strategy):
    return tf.distribute.coordinator.ClusterCoordinator(strategy)


def test_a_counter_counts_all_functions_of_all_workers(strategy, coordinator):
    with strategy.scope():
        compiled, plain = tf.Variable(0), tf.Variable(0)

    @tf.function
    def count():
        compiled.assign_add(1)

    for _ in range(1000):
        coordinator.schedule(count)
    for _ in range(100):
        coordinator.schedule(lambda: plain.assign_add(1))
    coordinator.join()
    assert (compiled.numpy(), plain.numpy()) == (1000, 100)


def test_workers_that_run_op_by_op_count_and_train_together(strategy, coordinator):
    with strategy.scope():
        count, weight = tf.Variable(0), tf.Variable([0.0])
        optimizer = tf.keras.optimizers.SGD(1.0)

    @tf.function
    def step():
        def replica():
            count.assign_add(1)
            optimizer.apply_gradients([(tf.constant([-1.0]), weight)])

        strategy.run(replica)

    tf.config.run_functions_eagerly(True)
    try:
        for _ in range(20):
            coordinator.schedule(step)
        coordinator.join()
    finally:
        tf.config.run_functions_eagerly(False)
    assert (count.numpy(), weight.numpy().tolist(), optimizer.iterations.numpy()) == (20, [20], 20)


def data(context=None):
    return tf.data.Dataset.from_tensor_slices((ROWS, TARGETS)).repeat().batch(16)


def training(strategy, optimizer):
    """Makes a weight, a metric and a step in the style of TensorFlow's tutorial."""
    with strategy.scope():
        weight = tf.Variable(tf.zeros((8, 1)))
        mean = tf.keras.metrics.Mean()
        optimizer = optimizer()

    @tf.function
    def step(iterator):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.matmul(x, weight) - y) ** 2)
            gradients = tape.gradient(loss, [weight])
            optimizer.apply_gradients(zip(gradients, [weight], strict=True))
            mean.update_state(loss)
            return loss

        x, y = next(iterator)
        losses = strategy.run(replica, args=(x, y))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    return step, weight, mean, optimizer


OPTIMIZERS = {
    "sgd": functools.partial(tf.keras.optimizers.SGD, 0.05),
    "momentum": functools.partial(tf.keras.optimizers.SGD, 0.05, momentum=0.9),
    "adam": functools.partial(tf.keras.optimizers.Adam, 0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("distributed", [False, True])
def test_one_worker_computes_what_one_device_computes(name, distributed):
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    strategy = make_strategy(1, 2, variable_partitioner=partitioner)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

    @tf.function
    def make_data():
        return strategy.distribute_datasets_from_function(data) if distributed else data()

    there = training(strategy, OPTIMIZERS[name])
    iterator = iter(coordinator.create_per_worker_dataset(make_data))
    results = [coordinator.schedule(there[0], args=(iterator,)) for _ in range(6)]
    coordinator.join()

    one = tf.distribute.OneDeviceStrategy("cpu:0")
    here, rows = training(one, OPTIMIZERS[name]), iter(data())
    expected = [float(here[0](rows)) for _ in range(6)]
    np.testing.assert_allclose([each.fetch() for each in results], expected, rtol=1e-5)
    np.testing.assert_allclose(there[1].numpy(), here[1].numpy(), rtol=1e-5)
    np.testing.assert_allclose(there[2].result(), here[2].result(), rtol=1e-5)
    assert int(there[3].iterations) == 6


def test_no_update_of_concurrent_workers_is_lost(strategy, coordinator):
    step, weight, mean, optimizer = training(strategy, OPTIMIZERS["adam"])
    iterator = iter(coordinator.create_per_worker_dataset(data))
    for _ in range(200):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    assert int(optimizer.iterations) == 200
    assert float(mean.count) == 200
    np.testing.assert_allclose(weight.numpy()[:, 0], np.arange(8), atol=0.5)


def test_workers_share_no_iterator(coordinator):
    meet = threading.Barrier(4)
    iterator = iter(coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(9)))

    def first(iterator):
        meet.wait(30)  # so that each of them runs on a worker of its own
        return next(iterator)

    results = [coordinator.schedule(first, args=(iterator,)) for _ in range(4)]
    assert [int(value) for value in coordinator.fetch(results)] == [0, 0, 0, 0]


def test_a_dataset_is_read_by_each_worker_by_itself(strategy):
    coordinator = tf.distribute.coordinator.ClusterCoordinator(make_strategy(1))
    dataset = coordinator.create_per_worker_dataset(tf.data.Dataset.range(3))
    for _ in range(2):
        iterator = iter(dataset)
        results = [coordinator.schedule(next, args=(iterator,)) for _ in range(3)]
        assert [int(value.fetch()) for value in results] == [0, 1, 2]
    coordinator.schedule(next, args=(iterator,))
    with pytest.raises(StopIteration):
        coordinator.join()


def test_what_is_no_dataset_is_refused_at_once(coordinator):
    with pytest.raises(
        TypeError, match="a function that returns a dataset, or a dataset, but got 3"
    ):
        coordinator.create_per_worker_dataset(3)


def test_results_can_be_passed_on(coordinator):
    two = coordinator.schedule(lambda: tf.constant(2))
    assert coordinator.schedule(lambda x, y: x * y, args=(two,), kwargs={"y": 3}).fetch() == 6
    assert coordinator.fetch({"a": two, "b": 7}) == {"a": 2, "b": 7}


def test_the_first_error_is_raised_once(coordinator):
    def fail():
        raise KeyError("no such row")

    coordinator.schedule(fail)
    with pytest.raises(KeyError, match="no such row"):
        coordinator.join()
    coordinator.join()
    assert coordinator.done()


def test_a_strategy_has_one_coordinator(strategy, coordinator):
    assert tf.distribute.coordinator.ClusterCoordinator(strategy) is coordinator
    assert tf.distribute.experimental.coordinator.ClusterCoordinator(strategy) is coordinator


def test_other_strategies_and_values_are_refused(coordinator):
    with pytest.raises(ValueError, match="is supported to work with `ClusterCoordinator`"):
        tf.distribute.coordinator.ClusterCoordinator(tf.distribute.OneDeviceStrategy("cpu:0"))
    with pytest.raises(TypeError, match="Pass the function itself"):
        coordinator.schedule(3)


@pytest.mark.parametrize(
    ("args", "kwargs", "remedy"),
    [
        (5, None, r"args=\(value,\)"),
        (5, 6, r"args=\(value,\)"),
        ((5,), 6, r"kwargs=\{'name': value\}"),
    ],
)
def test_arguments_that_are_no_tuple_are_an_error_that_says_what_to_write(
    coordinator, args, kwargs, remedy
):
    with pytest.raises(TypeError, match=remedy):
        coordinator.schedule(lambda x: x, args, kwargs)


def test_a_variable_in_place_of_the_arguments_is_an_error_that_says_what_to_write(coordinator):
    with pytest.raises(TypeError, match=r"args of type Variable.*args=\(value,\)"):
        coordinator.schedule(lambda x: x, args=tf.Variable([1.0]))


def test_a_dataset_in_place_of_its_iterator_is_an_error_that_says_what_to_write(coordinator):
    data = coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(3))
    value = coordinator.schedule(lambda data: next(data), args=(data,))
    with pytest.raises(TypeError, match=r"iter\(coordinator.create_per_worker_dataset"):
        value.fetch()
    with pytest.raises(TypeError, match="iter"):
        coordinator.join()
