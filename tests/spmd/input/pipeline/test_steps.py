"""Steps: from a stream's item to its element."""

import numpy as np

from spmd.input.pipeline import MapFunction
from spmd.input.pipeline.row_sources import ArraySource
from spmd.input.pipeline.steps import Gather, Grouped, Mapped, identity_step


def test_gather():
    step = Gather(ArraySource(np.arange(5)), 2, None)
    assert step(np.array([[3], [1]])).tolist() == [3, 1]


def test_mapped():
    step = (
        Mapped(identity_step, ())
        .then(MapFunction(lambda x: x + 1))
        .then(MapFunction(lambda x: x * 2))
    )
    assert step(np.int32(1)) == 4
    # Two items, padded to a batch of four for the compiled functions.
    assert step.many([np.int32(1), np.int32(2)], 4).tolist() == [4, 6]


def test_functions_that_do_not_trace_get_single_rows():
    step = Mapped(
        identity_step, [MapFunction(lambda x: x + 1), MapFunction(lambda x: 0 if x > 2 else x)]
    )
    assert step.many([np.int32(1), np.int32(2)], 4).tolist() == [2, 0]
    assert step.then(MapFunction(lambda x: x + 5)).many([np.int32(1)], 4).tolist() == [7]


def test_groups():
    assert Grouped(identity_step, 3)([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    mapped = Mapped(identity_step, [MapFunction(lambda x: -x)])
    assert Grouped(mapped, 3)([np.int32(1)]).tolist() == [-1]
