"""Rows: operations on their numbers give what the same operations on a stream give."""

import contextlib

import numpy as np
import pytest

from spmd.input.pipeline import MapFunction, ShuffleOrder, array_rows
from spmd.input.pipeline import rows as module
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.stream import Stream

OPERATIONS = {
    "take": lambda form: form.take(4),
    "skip": lambda form: form.skip(3),
    "shard": lambda form: form.shard(3, 1),
    "repeat": lambda form: form.repeat(3),
    "shuffle": lambda form: form.shuffle(4, ShuffleOrder((1,), True)),
    "repeat a shuffle": lambda form: form.shuffle(9, ShuffleOrder((2,), True)).repeat(2),
    "cache": lambda form: form.shuffle(9, ShuffleOrder((2,), True)).cache().repeat(2),
    "map": lambda form: form.map(MapFunction(lambda x: x * 2), 0),
    "map without tracing": lambda form: form.map(MapFunction(lambda x: x * 2 if x else x), 0),
    "filter": lambda form: form.filter(MapFunction(lambda x: x % 2 == 0)),
    "batch": lambda form: form.batch(4, False),
    "drop the remainder": lambda form: form.batch(4, True),
    "unbatch": lambda form: form.batch(4, True).skip(1).unbatch(),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_same_as_for_a_stream(name):
    rows = array_rows(np.arange(10, dtype=np.int32), 10)
    ours, theirs = OPERATIONS[name](rows), OPERATIONS[name](rows.as_stream())
    assert (ours.stable, ours.finite) == (theirs.stable, theirs.finite)
    for _ in range(2):
        np.testing.assert_equal(list(ours.elements()), list(theirs.elements()))


def test_stay_rows_where_they_can():
    rows = array_rows(np.arange(10), 10)
    assert isinstance(rows.map(MapFunction(lambda x: x + 1), 0), Rows)
    assert isinstance(rows.map(MapFunction(lambda x: int(x)), 0), Stream)
    assert isinstance(rows.batch(2, False).unbatch(), Rows)
    assert rows.cache() is rows  # in memory already


def test_blocks_are_small_in_bytes(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 32)
    rows = array_rows(np.zeros((9, 2)), 9)
    assert [len(chunk) for chunk, _ in rows._blocks()] == [2, 2, 2, 2, 1]


class Numbered:
    """A function that draws the number of its element, without a program of random numbers."""

    def __init__(self):
        self.next, self.traced = 0, None

    def reserve(self, count):
        self.next += count
        return self.next - count

    def keys(self, numbers, seeds):
        return np.stack([numbers, numbers], 1).astype(np.uint32)[:, None]

    @contextlib.contextmanager
    def within(self, traced):
        self.traced = traced
        yield

    def __call__(self, x):
        return x, self.traced.take(None)[0]


def drawing():
    numbered = Numbered()
    return MapFunction(numbered, numbered.within, None, numbered)


def test_a_row_draws_the_same_however_often_it_is_looked_up():
    rows = array_rows(np.arange(10, dtype=np.int32), 10).map(drawing(), 0)
    assert isinstance(rows, Rows)
    assert not rows.stable
    odd = rows.filter(MapFunction(lambda x, number: number % 2 == 1))
    for first in (0, 10):
        found = list(odd.elements())
        assert [int(number) - first for _, number in found] == [1, 3, 5, 7, 9]
        assert [int(x) for x, _ in found] == [1, 3, 5, 7, 9]


def test_rows_draw_anew_in_each_round_and_keep_what_they_drew_in_a_cache():
    rows = array_rows(np.arange(3, dtype=np.int32), 3)
    again = rows.map(drawing(), 0).repeat(2).batch(4, False)
    assert [batch[1].tolist() for batch in again.elements()] == [[0, 1, 2, 3], [4, 5]]
    shuffled = rows.map(drawing(), 0).shuffle(3, ShuffleOrder((1,), True))
    assert all(int(x) == int(number) for x, number in shuffled.elements())
    cached = rows.map(drawing(), 0).cache().repeat(2)
    assert [int(number) for _, number in cached.elements()] == [0, 1, 2] * 2
    assert [int(number) for _, number in rows.map(drawing(), 0).skip(1).elements()] == [1, 2]


def test_a_filter_that_draws_keeps_others_in_each_pass():
    numbered = Numbered()
    rows = array_rows(np.arange(4, dtype=np.int32), 4)
    predicate = MapFunction(lambda x: numbered(x)[1] < 2, numbered.within, None, numbered)
    kept = rows.filter(predicate)
    assert not kept.stable
    assert [[int(x) for x in kept.elements()] for _ in range(2)] == [[0, 1], []]
