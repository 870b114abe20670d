"""`choose_from_datasets` and `sample_from_datasets`: order, ends, weights and seeds."""

import numpy as np
import pytest

from frontends.tf import random
from frontends.tf.data import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from frontends.tf.data.spec import TensorSpec


def numbers(dataset):
    return [int(x) for x in dataset]


def choices(*values):
    return Dataset.from_tensor_slices(np.array(values, np.int64))


def test_choose():
    """The example of tf.data.Dataset.choose_from_datasets."""
    parts = [Dataset.from_tensors(text).repeat() for text in (b"foo", b"bar", b"baz")]
    mixed = Dataset.choose_from_datasets(parts, Dataset.range(3).repeat(3))
    assert list(mixed) == [b"foo", b"bar", b"baz"] * 3


def test_choose_from_datasets_that_end():
    parts = [Dataset.range(2), Dataset.range(10, 14)]
    order = choices(0, 1, 0, 0, 1, 1, 0, 1, 1)
    stopped = Dataset.choose_from_datasets(parts, order)
    assert numbers(stopped) == numbers(stopped) == [0, 10, 1]
    assert stopped.cardinality() == UNKNOWN_CARDINALITY
    skipped = Dataset.choose_from_datasets(parts, order, stop_on_empty_dataset=False)
    assert numbers(skipped) == [0, 10, 1, 11, 12, 13]
    assert skipped.element_spec == TensorSpec((), np.int64)


def test_choices_are_checked():
    parts = [Dataset.range(2)]
    with pytest.raises(ValueError, match="choice_dataset has 1, but there are 1 datasets"):
        list(Dataset.choose_from_datasets(parts, choices(0, 1)))
    with pytest.raises(ValueError, match="must be at least 0"):
        list(Dataset.choose_from_datasets(parts, choices(-1)))
    with pytest.raises(TypeError, match="must be an integer"):
        list(Dataset.choose_from_datasets(parts, Dataset.from_tensor_slices([0.0])))
    with pytest.raises(TypeError, match="expected a dataset"):
        Dataset.choose_from_datasets([[1]], choices(0))
    with pytest.raises(ValueError, match="at least one dataset"):
        Dataset.sample_from_datasets([])


def test_sample_takes_all_of_them():
    parts = [Dataset.range(3), Dataset.range(10, 20)]
    mixed = Dataset.sample_from_datasets(parts, seed=2)
    assert sorted(numbers(mixed)) == [0, 1, 2, *range(10, 20)]
    assert [x for x in numbers(mixed) if x < 10] == [0, 1, 2]  # each in its own order
    assert numbers(mixed) == numbers(mixed)


def test_sample_stops_with_the_first_that_ends():
    parts = [Dataset.range(5), Dataset.from_tensors(np.int64(7)).repeat()]
    stopped = numbers(Dataset.sample_from_datasets(parts, seed=1, stop_on_empty_dataset=True))
    assert [x for x in stopped if x != 7] == [0, 1, 2, 3, 4]
    assert len(stopped) < 60


def test_weights():
    parts = [Dataset.from_tensors(n).repeat() for n in range(4)]
    mixed = Dataset.sample_from_datasets(parts, weights=[1, 0, 3, 4], seed=5)
    assert mixed.cardinality() == INFINITE_CARDINALITY
    counts = np.bincount(numbers(mixed.take(8000)), minlength=4)
    assert counts[1] == 0
    np.testing.assert_allclose(counts / 1000, [1, 0, 3, 4], atol=0.2)
    for wrong in ([1.0], [1, 1, 1, -1], [0, 0, 0, 0]):
        with pytest.raises(ValueError, match="one weight of at least 0 for each of 4 datasets"):
            Dataset.sample_from_datasets(parts, weights=wrong)
    with pytest.raises(TypeError, match="not supported"):
        Dataset.sample_from_datasets(parts, weights=Dataset.range(3))


def test_a_dataset_that_is_never_drawn_is_not_waited_for():
    parts = [Dataset.range(3), Dataset.range(3)]
    assert numbers(Dataset.sample_from_datasets(parts, weights=[1, 0])) == [0, 1, 2]


def test_seeds():
    def draws(**kwargs):
        parts = [Dataset.from_tensors(n).repeat() for n in range(2)]
        mixed = Dataset.sample_from_datasets(parts, **kwargs).take(40)
        return numbers(mixed), numbers(mixed)

    assert draws(seed=1) == draws(seed=1) != draws(seed=2)
    first, second = draws(seed=1, rerandomize_each_iteration=True)
    assert first != second
    assert draws() != draws()
    random.set_seed(3)
    ours = draws()
    random.set_seed(3)
    assert draws() == ours
    random.set_seed(None)
