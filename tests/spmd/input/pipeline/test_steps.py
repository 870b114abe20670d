"""Steps: from a stream's item to its element."""

import numpy as np

from spmd.input.pipeline import MapFunction
from spmd.input.pipeline.row_sources import ArraySource
from spmd.input.pipeline.steps import Either, Gather, Group, Mapped, Ready


def test_gather_and_the_same_rows_of_another_source():
    step = Gather(ArraySource(np.arange(5)), 2, None)
    item = np.array([[3], [1]])
    assert step.one(item).tolist() == [3, 1]
    assert step.of(ArraySource(np.arange(5) * 10)).one(item).tolist() == [30, 10]


def test_mapped():
    step = Mapped(Ready(), ()).then(MapFunction(lambda x: x + 1)).then(MapFunction(lambda x: x * 2))
    assert step.one(np.int32(1)) == 4
    # Two items, padded to a batch of four for the compiled functions.
    assert step.many([np.int32(1), np.int32(2)], 4).tolist() == [4, 6]


def test_functions_that_do_not_trace_get_single_rows():
    step = Mapped(Ready(), [MapFunction(lambda x: x + 1), MapFunction(lambda x: 0 if x > 2 else x)])
    assert step.many([np.int32(1), np.int32(2)], 4).tolist() == [2, 0]
    assert step.then(MapFunction(lambda x: x + 5)).many([np.int32(1)], 4).tolist() == [7]


def test_group_and_either():
    assert Group(Ready(), 3).one([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    mapped = Mapped(Ready(), [MapFunction(lambda x: -x)])
    assert Group(mapped, 3).one([np.int32(1)]).tolist() == [-1]
    assert [Either(Ready(), mapped).one((n, np.int32(4))) for n in (0, 1)] == [4, -4]
