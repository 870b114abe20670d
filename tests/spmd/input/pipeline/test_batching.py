"""Batches of elements that differ in size, and batches of another size."""

import numpy as np

from spmd.input.pipeline import Padding, array_rows, iterated, padded, rebatched
from spmd.input.pipeline.spec import ArraySpec


def lists(form):
    return [batch.tolist() for batch in form.elements()]


def test_padded():
    form = iterated([np.full(n, n) for n in (1, 3, 2)], finite=True)
    assert lists(padded(form, 2, False, Padding(None, None))) == [[[1, 0, 0], [3, 3, 3]], [[2, 2]]]
    dropped = padded(form, 2, True, Padding((4,), -1))
    assert lists(dropped) == [[[1, -1, -1, -1], [3, 3, 3, -1]]]
    assert dropped.spec() == ArraySpec((2, 4), np.dtype(np.int64))


def test_sizes_are_exact_where_rows_have_one_shape():
    rows = array_rows(np.zeros((3, 2), np.float32), 3)
    assert padded(rows, 2, False, Padding(None, None)).spec().shape == (None, 2)
    assert padded(rows.as_stream(), 2, False, Padding(None, None)).spec().shape == (None, None)


def test_rebatched():
    batches = array_rows(np.arange(7), 7).batch(4, False)
    assert lists(rebatched(batches, [3], False)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert lists(rebatched(batches, [2, 1], True)) == [[0, 1], [2], [3, 4], [5]]
