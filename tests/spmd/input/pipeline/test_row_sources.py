"""Rows that are looked up by number."""

import jax
import numpy as np

from spmd.input.pipeline import MapFunction
from spmd.input.pipeline.row_sources import (
    ArraySource,
    ConcatenatedSource,
    MappedSource,
    RangeSource,
    ZipSource,
    row_bytes,
)


def chunk(*rows):
    return np.array(rows, np.int64)


def test_arrays_and_ranges():
    source = ArraySource({"x": np.arange(6).reshape(3, 2)})
    assert source.gather(chunk([2], [0]), 2)["x"].tolist() == [[4, 5], [0, 1]]
    assert RangeSource(10, -2, np.dtype(np.int8)).gather(chunk([0], [3]), 2).tolist() == [10, 4]


def test_zipped_sources_have_columns_of_their_own():
    both = ZipSource(
        jax.tree.structure((0, 0)),
        [RangeSource(0, 1, np.dtype(np.int64)), RangeSource(0, 10, np.dtype(np.int64))],
    )
    assert both.columns == 2
    assert [part.tolist() for part in both.gather(chunk([1, 2], [3, 4]), 2)] == [[1, 3], [20, 40]]


def test_concatenated_sources_are_told_apart_by_a_tag():
    first, second = ArraySource(np.arange(3)), ArraySource(np.arange(3) + 10)
    both = ConcatenatedSource(first, second)
    mixed = np.concatenate([both.tag(chunk([2]), 1), both.tag(chunk([0], [1]), 0)])
    assert both.gather(mixed, 4).tolist() == [12, 0, 1]
    assert both.gather(mixed[:1], 4).tolist() == [12]


def test_a_mapped_source_pads_to_one_size_and_compiles_once():
    function = MapFunction(lambda x: x + 1)
    source = MappedSource(ArraySource(np.arange(9, dtype=np.int32)), function)
    for rows in ([[1], [2]], [[3]], [[4], [5], [6], [7]]):
        found = source.gather(chunk(*rows), 4)
        assert found.tolist() == [row[0] + 1 for row in rows]
    assert len(function._programs) == 1
    assert source.computed
    assert source.spec.dtype == np.int32


def test_row_bytes():
    assert row_bytes(ArraySource((np.zeros((5, 3), np.float32), np.zeros(5, np.int64)))) == 20
