"""Elements whose computation fails, left out."""

import logging

import numpy as np
import pytest

from spmd.input.pipeline import MapFunction, array_rows, ready, without_errors
from spmd.input.pipeline.spec import ArraySpec

SPEC = ArraySpec((), np.dtype(int))


def test_map_functions_that_fail(caplog):
    form = array_rows(np.arange(4), 4).map(MapFunction(lambda x: 6 // int(x)), workers=0)
    assert list(without_errors(form, log=False).elements()) == [6, 3, 2]
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        assert list(without_errors(form, log=True).elements()) == [6, 3, 2]
    assert "Left out an element: ZeroDivisionError" in caplog.text


def test_rows_are_read_as_they_are():
    assert list(without_errors(array_rows(np.arange(3), 3), log=False).elements()) == [0, 1, 2]


def test_a_source_that_fails_for_ever():
    class Failing:
        def __iter__(self):
            return self

        def __next__(self):
            raise OSError("always")

    with pytest.raises(OSError, match="always"):
        list(without_errors(ready(Failing, lambda: SPEC), log=False).elements())
