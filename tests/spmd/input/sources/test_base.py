"""`Source`: what a kind of data source need not say, and what it may be asked."""

import sys
import types
from collections.abc import Iterator

import pytest

import spmd
from spmd.input.sources import base
from spmd.input.sources.base import Source


class Numbers(Source):
    """Three batches; notes whether its pass was closed."""

    closed = False

    def batches(self) -> Iterator[int]:
        try:
            yield from (0, 1, 2)
        finally:
            self.closed = True


def test_a_source_says_how_its_batches_start_and_no_more() -> None:
    source = Numbers()
    assert source.full_batch_rows is None
    assert source.num_batches(drop_remainder=False) is None
    assert source.position() is None


def test_a_pass_is_resumed_by_reading_the_batches_before() -> None:
    source = Numbers()
    rest = source.resumed_at(None, 2)
    assert list(rest) == [2]
    assert source.closed


def test_counts() -> None:
    assert [base.count_batches(10, 4, drop) for drop in (False, True)] == [3, 2]
    assert [base.length_of(source) for source in ([1, 2], iter([]))] == [2, None]


def test_classes_of_libraries_that_are_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert base.imported("no_such_library", "Dataset") == ()
    monkeypatch.setitem(sys.modules, "library", types.SimpleNamespace(data=Numbers))
    assert base.imported("library", "data", "data.missing") == (Numbers,)


def test_batch_sizes_are_for_sources_of_rows() -> None:
    assert base.require_batch_size(4, "An array") == 4
    with pytest.raises(spmd.errors.BatchError, match="An array is a source of single rows"):
        base.require_batch_size(None, "An array")
    base.reject_batch_size(None, "An iterator")
    with pytest.raises(spmd.errors.BatchError, match="An iterator is a source of whole batches"):
        base.reject_batch_size(4, "An iterator")
