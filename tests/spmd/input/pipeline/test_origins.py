"""Forms over arrays, numbers, Python code and files."""

import itertools

import numpy as np

from spmd.input.pipeline import (
    ShuffleOrder,
    array_rows,
    file_records,
    generated,
    in_memory,
    iterated,
    lines,
    numbers,
    random_numbers,
)
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.spec import ArraySpec
from spmd.input.pipeline.stream import Stream


def test_arrays_are_referred_to_and_rows_are_copies():
    array = np.arange(4)
    form = array_rows(array, 4)
    array[0] = 9
    (batch,) = form.batch(4, False).elements()
    assert batch.tolist() == [9, 1, 2, 3]
    assert not np.shares_memory(batch, array)


def test_numbers():
    assert list(numbers(5, -2, np.dtype(np.int8), 3).elements()) == [5, 3, 1]
    endless = numbers(0, 1, np.dtype(np.int64), None)
    assert not endless.finite
    assert list(itertools.islice(endless.elements(), 3)) == [0, 1, 2]


def test_random_numbers():
    form = random_numbers(ShuffleOrder((1,), reshuffle=False))
    assert form.stable
    first, second = (list(itertools.islice(form.elements(), 5)) for _ in range(2))
    assert first == second
    other = random_numbers(ShuffleOrder((1,), reshuffle=True))
    assert [next(other.elements()) for _ in range(2)][1] != first[0]


def test_elements_in_memory_are_rows_if_they_can_be():
    assert isinstance(in_memory([np.zeros(2), np.ones(2)]), Rows)
    ragged = in_memory([np.zeros(2), np.ones(3)])
    assert isinstance(ragged, Stream)
    assert ragged.spec() == ArraySpec((None,), np.dtype(np.float64))


def test_python_code():
    declared = ArraySpec((), np.dtype(np.int32))
    assert generated(range, (3,), declared).spec() is declared
    found = generated(range, (3,), None)
    assert list(found.elements()) == [0, 1, 2]
    assert found.spec().dtype == np.int32
    assert [x.tolist() for x in iterated([[1, 2]], finite=True).elements()] == [[1, 2]]


def test_files_are_read_one_after_another(tmp_path):
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_text(f"{path.name}\n" * 2)
    names = iterated([str(path) for path in paths], finite=True)
    form = file_records(names, names.elements, None, lines)
    assert list(form.elements()) == [b"a", b"a", b"b", b"b"]
    assert form.spec().dtype == object
