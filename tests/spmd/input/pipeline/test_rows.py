"""Rows: operations on their numbers give what the same operations on a stream give."""

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
