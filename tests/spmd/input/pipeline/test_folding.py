"""Going through the elements in order while keeping a state."""

import numpy as np
import pytest

from spmd.input.pipeline import (
    MapFunction,
    array_rows,
    counted,
    first_state,
    iterated,
    next_state,
    scanned,
    taken_while,
    unique,
)


def rows(n=4):
    return array_rows(np.arange(n), n)


def test_a_state_keeps_its_structure_and_dtypes():
    state = first_state({"n": 1, "x": [1.0]})
    assert state["n"].dtype == np.int32
    assert next_state("scan", state, state) is state
    with pytest.raises(TypeError, match="reduce: the function must return a state like"):
        next_state("reduce", state, 0)
    with pytest.raises(
        TypeError, match=r"the state is int32 \(\['n'\]\), and the function returned"
    ):
        next_state("scan", state, {"n": np.float32(1), "x": state["x"]})
    assert next_state("scan", np.str_("a"), np.str_("longer")) == "longer"


def test_every_pass_of_a_scan_begins_anew():
    sums = scanned(rows(), MapFunction(lambda state, x: (state + x, state)), first_state(0))
    for _ in range(2):
        assert [int(x) for x in sums.elements()] == [0, 0, 1, 3]
    assert sums.spec().dtype == np.int32


def test_a_scan_needs_pairs():
    wrong = scanned(rows(), MapFunction(lambda state, x: state), first_state(0))
    with pytest.raises(TypeError, match="must return a pair"):
        list(wrong.elements())


def test_taken_while():
    below = taken_while(rows().repeat(None), MapFunction(lambda x: x < 2))
    assert below.finite
    assert list(below.elements()) == [0, 1]


def test_unique_compares_text_of_any_width_and_arrays():
    texts = iterated([np.array(["a"]), np.array(["a"], "U5"), np.array(["b"])], finite=True)
    assert len(list(unique(texts).elements())) == 2
    assert list(unique(rows(2).repeat(2)).elements()) == [0, 1]


@pytest.mark.parametrize("form", [rows(), rows().as_stream()])
def test_counted(form):
    assert list(counted(form, 4).elements()) == [0, 1, 2, 3]
    for expected, found in [(3, "more"), (5, "4"), (-1, "4")]:
        with pytest.raises(ValueError, match=f"has {found} elements"):
            list(counted(form, expected).elements())
