"""Rows of arrays, and results for each row."""

import numpy as np
import pytest

from frontends.tf.ops.rows import array_of, arrays_of, differ, row_of, rows_of, stack_results


def test_rows_of():
    rows, count = rows_of("tf.f", abs, {"a": np.int32([1, 2]), "b": np.zeros((2, 3))})
    assert (count, rows["b"].shape) == (2, (2, 3))
    assert row_of(rows, 1)["a"] == 2
    for elems, text in (
        (1.0, "tf.f: .*not scalars"),
        ((np.ones(1), np.ones(2)), "1, 2 rows"),
        ((), "not scalars"),
    ):
        with pytest.raises(ValueError, match=text):
            rows_of("tf.f", abs, elems)
    with pytest.raises(TypeError, match=r"tf\.f: fn"):
        rows_of("tf.f", None, [1])


def test_stack_results():
    assert stack_results([(1, 2), (3, 4)], (0, 0))[1].tolist() == [2, 4]
    assert stack_results([], array_of(np.ones(2))).shape == (0, 2)


def test_differ():
    assert differ((1, 2), (1,))
    assert not differ((1, [2]), [3, (4,)])
    assert arrays_of((1, None))[1] is None
