"""Elements of a generator, checked against what was declared."""

import numpy as np
import pytest

from spmd.input.pipeline import generated
from spmd.input.pipeline.spec import ArraySpec

SPEC = {"x": ArraySpec((None, 2), np.dtype(np.float32)), "y": ArraySpec((), np.dtype(np.int32))}


def read(*values, signature=SPEC):
    return list(generated(lambda: iter(values), (), signature).elements())


def test_elements_become_what_was_declared():
    ((first),) = read({"x": [[1, 2]], "y": 3})
    assert (first["x"].dtype, first["x"].shape, first["y"].dtype) == (np.float32, (1, 2), np.int32)


def test_without_a_declaration_elements_are_copied():
    buffer = np.zeros(1)

    def fill():
        for n in range(3):
            buffer[:] = n
            yield buffer

    assert [x.tolist() for x in generated(fill, (), None).elements()] == [[0.0], [1.0], [2.0]]


def test_arguments_and_text():
    text = ArraySpec((), np.dtype(object))
    assert list(generated(lambda n: [b"x"] * n, (2,), text).elements()) == [b"x", b"x"]


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        ({"x": [[1, 2]]}, TypeError, "expected the structure"),
        ({"x": [1, 2], "y": 3}, ValueError, r"expected shape \(None, 2\) for \['x'\], got \(2,\)"),
        ({"x": [[1, 2]], "y": "text"}, TypeError, r"expected int32 for \['y'\], got 'text'"),
        ({"x": [[1, 2]], "y": object()}, TypeError, r"expected int32 for \['y'\]"),
    ],
)
def test_what_differs_from_the_declaration(value, error, match):
    with pytest.raises(error, match=match):
        read(value)
