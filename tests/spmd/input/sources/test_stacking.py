"""Rows stacked to batches."""

import numpy as np
import pytest

import spmd
from spmd.input.sources.stacking import stack_in_batches, stack_rows


def test_rows_become_columns() -> None:
    batch = stack_rows([{"x": 1, "y": np.zeros(2)}, {"x": 2, "y": np.ones(2)}])
    np.testing.assert_equal(batch, {"x": np.array([1, 2]), "y": np.array([[0, 0], [1, 1]])})


def test_rows_of_different_kinds_are_refused() -> None:
    with pytest.raises(spmd.errors.BatchError, match="need one structure"):
        stack_rows([{"x": 1}, {"y": 1}])
    with pytest.raises(
        spmd.errors.BatchError, match=r"batch\['x'\] need one shape.*\(2,\), \(3,\)"
    ):
        stack_rows([{"x": np.zeros(2)}, {"x": np.zeros(3)}])


def test_the_last_batch_may_be_smaller_and_the_iterator_is_closed() -> None:
    closed = []

    def rows():
        try:
            yield from range(5)
        finally:
            closed.append(True)

    assert [batch.tolist() for batch in stack_in_batches(rows(), 2)] == [[0, 1], [2, 3], [4]]
    assert closed
