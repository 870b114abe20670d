"""`counter` and `random`: numbers without end, and which of them repeat."""

import numpy as np
import pytest

from frontends.tf.data import INFINITE_CARDINALITY, Dataset
from frontends.tf.data.spec import TensorSpec


def first(dataset, count=20):
    return [int(x) for x in dataset.take(count)]


def test_counter():
    # The expected values stand in the documentation of tf.data.Dataset.counter.
    assert first(Dataset.counter(), 5) == [0, 1, 2, 3, 4]
    assert first(Dataset.counter(start=2), 5) == [2, 3, 4, 5, 6]
    assert first(Dataset.counter(start=2, step=5), 5) == [2, 7, 12, 17, 22]
    assert first(Dataset.counter(start=10, step=-1), 5) == [10, 9, 8, 7, 6]
    small = Dataset.counter(dtype=np.int32)
    assert small.element_spec == TensorSpec((), np.int32)
    assert small.cardinality() == INFINITE_CARDINALITY
    assert small.batch(3).take(1).get_single_element().tolist() == [0, 1, 2]


def test_random():
    dataset = Dataset.random(seed=4)
    assert dataset.cardinality() == INFINITE_CARDINALITY
    assert dataset.element_spec == TensorSpec((), np.int64)
    values = first(dataset, 2000)
    assert min(values) >= 0
    assert 2**31 < max(values) < 2**32
    assert len(set(values)) > 1990
    assert next(iter(dataset)).dtype == np.int64


def test_seeds():
    assert first(Dataset.random(seed=4)) == first(Dataset.random(seed=4))
    assert first(Dataset.random(seed=4)) != first(Dataset.random(seed=5))
    assert first(Dataset.random()) != first(Dataset.random())
    with pytest.raises(TypeError, match=r"random: seed must be an integer or None"):
        Dataset.random(seed=1.5)


def test_passes():
    same = Dataset.random(seed=4)
    assert first(same) == first(same)
    changing, again = (Dataset.random(seed=4, rerandomize_each_iteration=True) for _ in range(2))
    passes = [first(changing), first(changing)]
    assert passes[0] != passes[1]
    assert [first(again), first(again)] == passes
