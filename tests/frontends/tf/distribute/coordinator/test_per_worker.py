"""Values of which each worker has its own."""

import pytest

from frontends import tf
from frontends.tf.distribute.coordinator.per_worker import (
    PerWorkerDataset,
    PerWorkerValues,
    current_worker,
    of_worker,
    on_worker,
)


def test_a_worker_gets_its_own_value():
    values = PerWorkerValues(["a", "b"])
    assert of_worker({"x": values, "y": [1, values]}, 1) == {"x": "b", "y": [1, "b"]}


def test_datasets_and_iterators_are_made_when_a_worker_needs_them():
    made = []

    def make():
        made.append(1)
        return tf.data.Dataset.range(3)

    dataset = PerWorkerDataset(make, 2)
    first = iter(dataset)
    assert not made
    assert [int(next(of_worker(first, 0))) for _ in range(2)] == [0, 1]
    assert int(next(of_worker(first, 1))) == 0
    assert int(next(of_worker(iter(dataset), 0))) == 0
    assert len(made) == 2
    assert dataset.element_spec.dtype == tf.int64


def test_next_is_the_workers():
    iterator = iter(PerWorkerDataset(lambda: tf.data.Dataset.range(3), 2))
    assert iter(iterator) is iterator
    with pytest.raises(NotImplementedError, match=r"coordinator\.schedule\(step, args="):
        next(iterator)
    with on_worker(1):
        assert (int(next(iterator)), current_worker()) == (0, 1)
    assert current_worker() is None


def test_a_function_can_ask_which_worker_runs_it():
    index = tf.distribute.coordinator.experimental_get_current_worker_index
    with on_worker(2):
        assert index() == 2
    with pytest.raises(RuntimeError, match="Cannot retrieve the worker index"):
        index()
