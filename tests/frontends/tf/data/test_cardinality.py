"""The rules against TensorFlow's, for the sizes that need not be counted; `test_model` counts."""

import pytest

from frontends.tf.data import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, cardinality

INF, UNKNOWN = INFINITE_CARDINALITY, UNKNOWN_CARDINALITY


@pytest.mark.parametrize("n", [INF, UNKNOWN])
def test_stays_what_it_is(n):
    assert cardinality.batch(n, 3, False) == n
    assert cardinality.shard(n, 3, 0) == n
    assert cardinality.skip(n, 5) == n
    assert cardinality.repeat(n, 3) == n


def test_repeat_and_take():
    assert [cardinality.repeat(n, None) for n in (0, 3, INF, UNKNOWN)] == [0, INF, INF, INF]
    assert [cardinality.repeat(n, 0) for n in (3, INF, UNKNOWN)] == [0, 0, 0]
    assert [cardinality.take(n, 5) for n in (3, 9, INF, UNKNOWN)] == [3, 5, 5, UNKNOWN]
    assert [cardinality.take(n, 0) for n in (3, INF, UNKNOWN)] == [0, 0, 0]
    assert [cardinality.take(n, None) for n in (3, INF, UNKNOWN)] == [3, INF, UNKNOWN]
    assert [cardinality.skip(n, None) for n in (3, INF, UNKNOWN)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("sizes", "together", "one_after_the_other"),
    [
        ((3, 5), 3, 8),
        ((3, INF), 3, INF),
        ((INF, INF), INF, INF),
        ((3, UNKNOWN), UNKNOWN, UNKNOWN),
        ((INF, UNKNOWN), UNKNOWN, INF),
    ],
)
def test_of_two(sizes, together, one_after_the_other):
    assert cardinality.zipped(sizes) == cardinality.zipped(reversed(sizes)) == together
    assert cardinality.concatenate(*sizes) == one_after_the_other


def test_unbatch():
    assert [cardinality.unbatch(n) for n in (0, 3, INF, UNKNOWN)] == [0, UNKNOWN, INF, UNKNOWN]
