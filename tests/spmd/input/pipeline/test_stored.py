"""Elements in files: all kinds come back, and nothing is left of what was not written whole."""

import json

import ml_dtypes
import numpy as np
import pytest

from spmd.errors import DamagedFileError
from spmd.input.pipeline import is_stored, stored, stored_count, written

ELEMENTS = [
    {"a": (np.arange(3, dtype=np.int8) + i, np.float32(i)), "b": b"text\0", "c": np.str_("é" * i)}
    for i in range(3)
]


def write(elements, path, compressed=False):
    return list(written(iter(elements), str(path), compressed))


@pytest.mark.parametrize("compressed", [False, True])
def test_elements_come_back(tmp_path, compressed):
    path = tmp_path / "elements"
    assert write(ELEMENTS, path, compressed) == ELEMENTS
    assert stored_count(str(path)) == 3
    form = stored(str(path))
    for _ in range(2):
        np.testing.assert_equal(list(form.elements()), ELEMENTS)
    assert [path.name for path in tmp_path.iterdir()] == ["elements"]


@pytest.mark.parametrize(
    "value",
    [
        np.ones((2, 0), np.float64),
        np.array([True, False]),
        np.array([1, 2], ml_dtypes.bfloat16),
        np.array([[b"a", b""], [b"b\0", b"c"]], object),
        np.array(["a", "bc"]),
        np.uint64(2**63),
    ],
)
def test_kinds_of_components(tmp_path, value):
    write([value], tmp_path / "elements")
    (found,) = stored(str(tmp_path / "elements")).elements()
    np.testing.assert_array_equal(found, value)
    assert np.asarray(found).dtype == np.asarray(value).dtype


def test_no_elements(tmp_path):
    write([], tmp_path / "elements")
    assert list(stored(str(tmp_path / "elements")).elements()) == []


def test_what_is_not_written_to_its_end_leaves_nothing(tmp_path):
    elements = written(iter(ELEMENTS), str(tmp_path / "elements"), False)
    next(elements)
    elements.close()
    assert list(tmp_path.iterdir()) == []
    assert not is_stored(str(tmp_path / "elements"))
    with pytest.raises(FileNotFoundError, match="holds no stored elements"):
        stored_count(str(tmp_path / "elements"))


def test_another_dataset_replaces_the_first(tmp_path):
    for count in (3, 1):
        write(ELEMENTS[:count], tmp_path / "elements")
    assert stored_count(str(tmp_path / "elements")) == 1


@pytest.mark.parametrize("elements", [[object()], [(1, 2), {"a": 1}], [[np.zeros(1)]]])
def test_what_cannot_be_stored(tmp_path, elements):
    with pytest.raises(TypeError, match="store"):
        write(elements, tmp_path / "elements")
    assert list(tmp_path.iterdir()) == []


def test_damage_is_told(tmp_path):
    path = tmp_path / "elements"
    write(ELEMENTS, path)
    about = json.loads((path / "elements.json").read_text())
    (path / "elements.json").write_text(json.dumps(about | {"count": 4}))
    with pytest.raises(DamagedFileError, match="fewer elements"):
        list(stored(str(path)).elements())
