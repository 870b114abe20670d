"""Chunks of row numbers, however they are cut, against lists of the same numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmd.input.pipeline import chunks

# A pass in pieces of any size; the rows are numbered.
PASSES = st.lists(st.integers(1, 9), max_size=6)


def pieces(sizes):
    ends = np.cumsum([0, *sizes])
    return [np.arange(a, b)[:, None] for a, b in itertools.pairwise(ends)]


def rows(found):
    found = list(found)
    assert all(len(chunk) for chunk in found), "chunks are never empty"
    return [int(row) for chunk in found for row in chunk[:, 0]]


@given(PASSES, st.integers(0, 30), st.integers(1, 5), st.data())
def test_positions(sizes, count, shards, data):
    everything = list(range(sum(sizes)))
    index = data.draw(st.integers(0, shards - 1))
    assert rows(chunks.cut(pieces(sizes), 0, count)) == everything[:count]
    assert rows(chunks.cut(pieces(sizes), count, None)) == everything[count:]
    assert rows(chunks.cut(pieces(sizes), index, None, shards)) == everything[index::shards]


@given(PASSES, st.integers(1, 12), st.booleans())
def test_regroup(sizes, size, drop):
    groups = list(chunks.regroup(pieces(sizes), size, drop))
    total = sum(sizes)
    kept = total - total % size if drop else total
    assert rows(groups) == list(range(kept))
    assert all(len(group) == size for group in groups[:-1])


@given(PASSES, st.integers(0, 4), st.booleans())
def test_repeat(sizes, count, stable):
    def open_pass():
        return iter(pieces(sizes))

    once = list(range(sum(sizes)))
    assert rows(chunks.repeat(open_pass, count, stable)) == once * count
    endless = chunks.cut(chunks.repeat(open_pass, None, stable), 0, 50)
    assert rows(endless) == (once * 50)[:50]


@given(PASSES, PASSES)
def test_side_by_side(first, second):
    pairs = np.concatenate(
        [np.empty((0, 2), int), *chunks.side_by_side([iter(pieces(first)), iter(pieces(second))])]
    )
    shortest = min(sum(first), sum(second))
    assert pairs.tolist() == [[i, i] for i in range(shortest)]


def test_take_reads_no_further():
    def two_pieces():
        yield np.zeros((3, 1), int)
        pytest.fail("read too far")

    assert len(rows(chunks.cut(two_pieces(), 0, 3))) == 3


def test_counting_and_slices():
    assert rows(chunks.counting(150_000)) == list(range(150_000))
    assert rows(chunks.slices(np.arange(7)[:, None], 3)) == list(range(7))
    assert [len(c) for c in chunks.slices(np.arange(7)[:, None], 3)] == [3, 3, 1]


def test_pad():
    assert chunks.pad(np.array([[4], [7]]), 4)[:, 0].tolist() == [4, 7, 7, 7]
    assert chunks.pad(np.array([[4], [7]]), 2)[:, 0].tolist() == [4, 7]
