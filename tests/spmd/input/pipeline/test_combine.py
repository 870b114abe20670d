"""Forms side by side, one after another, and mixed."""

import itertools

import jax
import numpy as np
import pytest

from spmd.input.pipeline import (
    MapFunction,
    ShuffleOrder,
    array_rows,
    concatenated,
    drawn,
    enumerated,
    iterated,
    mixed,
    zipped,
)
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.stream import Stream

PAIR = jax.tree.structure((0, 0))


def rows(n, dtype=np.int64):
    return array_rows(np.arange(n, dtype=dtype), n)


@pytest.mark.parametrize("as_stream", [False, True])
def test_zipped_ends_with_the_shortest(as_stream):
    second = rows(2).as_stream() if as_stream else rows(2)
    pairs = zipped(PAIR, [rows(5).skip(1), second])
    assert isinstance(pairs, Stream if as_stream else Rows)
    assert list(pairs.elements()) == [(1, 0), (2, 1)]
    assert [spec.dtype for spec in pairs.spec()] == [np.int64, np.int64]


def test_zipped_is_finite_if_one_is():
    endless = rows(2).repeat(None)
    assert zipped(PAIR, [endless, rows(3)]).finite
    assert not zipped(PAIR, [endless, endless]).finite


def test_enumerated():
    assert list(enumerated(rows(2), 7).elements()) == [(7, 0), (8, 1)]


def test_rows_of_one_kind_stay_rows():
    both = concatenated(rows(2), rows(3))
    assert isinstance(both, Rows)
    assert [batch.tolist() for batch in both.batch(3, False).elements()] == [[0, 1, 0], [1, 2]]


def test_other_kinds_become_a_stream():
    negated = iterated([5, 6], finite=True).map(MapFunction(lambda x: -x), 0)
    both = concatenated(rows(1), negated)
    assert isinstance(both, Stream)
    assert list(both.elements()) == [0, -5, -6]
    with pytest.raises(TypeError, match="int64 in the first dataset and float32"):
        concatenated(rows(1), rows(1, np.float32))


def form(*values):
    return array_rows(np.array(values), len(values))


@pytest.mark.parametrize(
    ("stop_on_empty", "expected"), [(True, [1, 7, 2, 8]), (False, [1, 7, 2, 8, 9])]
)
def test_what_happens_when_a_form_ends(stop_on_empty, expected):
    turns = mixed(
        [form(1, 2), form(7, 8, 9)],
        lambda: itertools.cycle([0, 1]),
        stop_on_empty=stop_on_empty,
        finite=True,
    )
    assert [int(x) for x in turns.elements()] == expected


def test_draws_keep_to_the_weights_and_can_be_repeated():
    def draw():
        numbers = drawn(np.array([1.0, 3.0]), ShuffleOrder((5,), reshuffle=True))
        return list(itertools.islice(numbers, 4000))

    numbers = draw()
    assert 0.7 < np.mean(numbers) < 0.8
    assert numbers == draw()
