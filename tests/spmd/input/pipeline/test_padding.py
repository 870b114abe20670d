"""Batches of elements of different sizes, padded to equal ones."""

import numpy as np
import pytest

from spmd.input.pipeline import Padding
from spmd.input.pipeline.spec import ArraySpec


def row(n):
    return {"x": np.full(n, n, np.float32), "text": np.str_("t" * n)}


def test_each_component_has_its_shape_and_value():
    batch = Padding({"x": (3,), "text": ()}, {"x": -1, "text": None}).stack([row(1), row(2)])
    assert batch["x"].tolist() == [[1, -1, -1], [2, 2, -1]]
    assert batch["text"].tolist() == ["t", "tt"]


def test_one_value_for_all_and_zeros():
    rows = [np.ones((1, 2), np.int8), np.ones((2, 1), np.int8)]
    assert Padding(None, 5).stack(rows).tolist() == [[[1, 1], [5, 5]], [[1, 5], [1, 5]]]
    assert Padding(None, None).stack(rows).tolist() == [[[1, 1], [0, 0]], [[1, 0], [1, 0]]]


@pytest.mark.parametrize(
    ("padding", "rows", "error", "match"),
    [
        (Padding((1,), None), [np.ones(2)], ValueError, r"up to \(2,\) large, more than"),
        (Padding(None, None), [np.ones(2), np.ones((1, 1))], ValueError, r"has \[1, 2\] axes"),
        (Padding(None, None), [np.ones(2), np.ones(1, int)], TypeError, "float64 in one element"),
        (Padding(None, 0.5), [np.ones(1, int)], TypeError, "cannot be padded with 0.5"),
        (Padding({"y": (1,)}, None), [row(1)], TypeError, "padded_shapes must have the structure"),
    ],
)
def test_what_does_not_fit(padding, rows, error, match):
    with pytest.raises(error, match=match):
        padding.stack(rows)


def test_spec():
    spec = ArraySpec((2, None), np.dtype(np.int8))
    assert Padding(None, None).spec(spec, 4, exact=True).shape == (4, 2, None)
    assert Padding(None, None).spec(spec, None, exact=False).shape == (None, None, None)
    assert Padding((3, -1), None).spec(spec, 4, exact=False).shape == (4, 3, None)
