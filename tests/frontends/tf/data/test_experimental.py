"""`tf.data.experimental`: cardinalities, told or asserted, and what else scripts import from it."""

import jax
import numpy as np
import pytest

from frontends.tf import data
from frontends.tf.data import Dataset, experimental


def generated(n):
    return Dataset.from_generator(lambda: iter(range(n)))


def test_is_reached_through_the_package():
    assert data.experimental.AUTOTUNE == data.AUTOTUNE


def test_cardinality():
    assert experimental.cardinality(Dataset.range(5).repeat()) == data.INFINITE_CARDINALITY


@pytest.mark.parametrize(
    "make", [generated, lambda n: Dataset.range(2 * n).filter(lambda x: x % 2 == 0)]
)
class TestAssertCardinality:
    def test_is_believed(self, make):
        dataset = make(5).apply(experimental.assert_cardinality(5))
        assert len(dataset) == 5
        assert len(list(dataset.batch(2))) == 3

    @pytest.mark.parametrize(("number", "found"), [(4, "more"), (6, "5"), (-1, "5")])
    def test_is_checked(self, make, number, found):
        dataset = make(5).apply(experimental.assert_cardinality(number))
        with pytest.raises(ValueError, match=f"has {found} elements"):
            list(dataset)

    def test_only_of_whole_passes(self, make):
        dataset = make(5).apply(experimental.assert_cardinality(9))
        assert len(list(dataset.take(2))) == 2


def test_old_names_do_what_the_methods_do():
    rows = Dataset.range(5)
    parts = [rows, Dataset.range(10, 15)]
    batched = rows.apply(experimental.map_and_batch(lambda x: x + 1, 2, drop_remainder=True))
    assert [batch.tolist() for batch in batched] == [[1, 2], [3, 4]]
    shuffled = rows.apply(experimental.shuffle_and_repeat(5, count=2, seed=3))
    assert list(shuffled) == list(rows.shuffle(5, seed=3).repeat(2))
    assert list(rows.apply(experimental.prefetch_to_device("/gpu:0"))) == list(rows)
    chosen = experimental.choose_from_datasets(parts, Dataset.range(2))
    assert [int(x) for x in chosen] == [0, 10]
    sampled = experimental.sample_from_datasets(parts, seed=1)
    assert list(sampled) == list(Dataset.sample_from_datasets(parts, seed=1))
    assert int(experimental.get_single_element(rows.take(1))) == 0
    copies = experimental.parallel_interleave(lambda x: Dataset.from_tensors(x).repeat(2), 2)
    assert [int(x) for x in rows.take(3).apply(copies)] == [0, 1, 0, 1, 2, 2]


@pytest.mark.parametrize(
    ("given", "dtypes"),
    [
        ([1, 2], [np.int32]),
        ([2**40, 2**41], [np.int64]),
        ([np.float64(1), np.float64(2)], [np.float64]),
        ([{"a": 1.5, "b": [1, 2]}, {"a": 2.5, "b": [3, 4]}], [np.float32, np.int32]),
    ],
)
def test_lists_of_elements(given, dtypes):
    found = list(experimental.from_list(given))
    assert [leaf.dtype for leaf in jax.tree.leaves(found[0])] == dtypes
    assert jax.tree.map(np.ndarray.tolist, jax.tree.map(np.asarray, found)) == given
