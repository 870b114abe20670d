"""`tf.data.experimental`: cardinalities, told or asserted, and what else scripts import from it."""

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
