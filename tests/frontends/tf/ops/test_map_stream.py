"""`tf.random` in the map function of a dataset draws from a stream of that function's own."""

import threading

import numpy as np
import pytest

from frontends import tf


@pytest.fixture(autouse=True)
def _no_seed_left_behind():
    yield
    tf.random.set_seed(None)


def _strategy(replicas=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])


def test_every_element_of_a_map_gets_numbers_of_its_own():
    dataset = tf.data.Dataset.range(6).map(lambda x: tf.random.uniform([2]))
    drawn = [tuple(element.tolist()) for element in dataset]
    assert len(set(drawn)) == 6
    tf.random.uniform([2])  # the stream holds no value of a trace


def test_maps_draw_the_same_numbers_after_the_same_seed_whatever_else_draws():
    def drawn(between):
        tf.random.set_seed(5)
        datasets = [tf.data.Dataset.range(3).map(lambda x: tf.random.normal([])) for _ in range(2)]
        between()
        return [[float(x) for x in dataset] for dataset in (*datasets, datasets[0])]

    first = drawn(lambda: None)
    assert drawn(lambda: tf.random.uniform([2])) == first
    assert len({x for numbers in first for x in numbers}) == 9  # maps and passes differ


def test_maps_draw_while_steps_are_traced_and_draw_themselves():
    strategy = _strategy()
    drawing = threading.Event()

    def augment(x):
        noise = tf.random.normal([3])
        drawing.set()
        return x + noise

    rows = tf.data.Dataset.from_tensor_slices(np.zeros((40, 3), np.float32))
    batches = iter(strategy.experimental_distribute_dataset(rows.map(augment).batch(4)))

    @tf.function
    def step(batch):
        def in_replica(x):
            drawing.clear()
            drawing.wait(0.5)  # the thread that makes batches goes on while the step is traced
            return tf.reduce_sum(x) + tf.random.normal([])

        return strategy.reduce("SUM", strategy.run(in_replica, args=(batch,)), axis=None)

    assert len({float(step(batch)) for batch in batches}) == 10
