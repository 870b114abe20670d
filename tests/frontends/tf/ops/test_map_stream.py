"""`tf.random` in the map function of a dataset draws from a stream of that function's own."""

import threading

import numpy as np
import pytest

from frontends import tf
from frontends.tf.ops.map_stream import MapStream


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


ROWS = np.zeros(16, np.float32)


def _drawn(function, batch=None):
    """What a map function of sixteen elements draws, after one seed."""
    tf.random.set_seed(5)
    dataset = tf.data.Dataset.from_tensor_slices(ROWS).map(function)
    dataset = dataset if batch is None else dataset.batch(batch)
    return np.concatenate([np.atleast_1d(each) for each in dataset])


def test_an_element_draws_the_same_alone_and_in_batches_of_any_size():
    def noisy(x):
        return x + tf.random.uniform([]) + tf.random.normal([], seed=3)

    alone = _drawn(noisy)
    assert len(set(alone.tolist())) == 16
    for size in (5, 16):
        np.testing.assert_array_equal(_drawn(noisy, size), alone)


def test_a_compiled_function_draws_in_branches():
    calls = []

    def noisy(x):
        calls.append(x)
        if tf.random.uniform([]) < 0.5:
            x = x + 1 + tf.random.uniform([])
        return x

    found = _drawn(noisy)
    assert len(calls) < 16
    assert 0 < np.count_nonzero(found == 0) < 16
    assert len(set(found[found > 0].tolist())) == np.count_nonzero(found)


def test_what_a_loop_draws_differs_in_each_turn():
    def noisy(x):
        found = tf.TensorArray(tf.float32, 3)
        for turn in tf.range(3):
            found = found.write(turn, tf.random.uniform([]))
        return found.stack()

    tf.random.set_seed(5)
    found = list(tf.data.Dataset.from_tensor_slices(ROWS).map(noisy))
    assert len(set(np.ravel(found).tolist())) == 48


def test_keys_differ_between_elements_places_functions_and_seeds():
    tf.random.set_seed(5)
    streams = [MapStream(), MapStream()]
    numbers = np.array([0, 1, 2, 1 << 32])
    seeds = [None, None, (1, 2), (1, 3)]
    keys = [
        tuple(map(int, key)) for one in streams for key in one.keys(numbers, seeds).reshape(-1, 2)
    ]
    # Of the operations with a seed of their own, both functions have the same.
    assert len(set(keys)) == len(keys) - 8
    before = streams[0].keys(numbers, seeds)
    assert before.dtype == np.uint32
    np.testing.assert_array_equal(streams[0].keys(numbers[1:], seeds), before[1:])


def test_calls_in_another_process_draw_other_numbers_though_operations_have_seeds():
    stream = MapStream()
    draws = [stream.draws() for _ in range(2)]
    found = []
    for each in draws * 2:
        stream.draw_from(each)
        found.append(stream.next_key((1, 2)))
    assert found[0] == found[2] != found[1] == found[3]


def test_what_a_map_draws_may_depend_on_the_shape():
    def noisy(x):
        return x + tf.random.uniform([x.shape[0]], 1, 2) if x.shape[0] > 2 else x + 0

    def rows():
        return map(np.zeros, (1, 2, 3, 4))

    signature = tf.TensorSpec([None], tf.float32)
    found = list(tf.data.Dataset.from_generator(rows, output_signature=signature).map(noisy))
    assert [np.count_nonzero(each) for each in found] == [0, 0, 3, 4]
    assert len(set(np.concatenate(found).tolist())) == 8
