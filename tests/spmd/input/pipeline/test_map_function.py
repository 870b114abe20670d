"""Functions of elements: compiled or not, with the same results."""

import contextlib

import jax.numpy as jnp
import numpy as np
import pytest

from spmd.input.pipeline import map_function
from spmd.input.pipeline.map_function import MapFunction, call_once, holds, mask
from spmd.input.pipeline.spec import ArraySpec

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
SPEC = ArraySpec((2,), np.dtype(np.float32))


def doubled(x):
    return x * 2


def by_value(x):
    return x * 2 if x[0] >= 0 else x


def test_what_traces_is_compiled_for_batches():
    compiled, plain = MapFunction(doubled), MapFunction(by_value)
    assert compiled.traces(SPEC)
    assert not plain.traces(SPEC)
    np.testing.assert_array_equal(compiled.many(ROWS), ROWS * 2)
    for function in (compiled, plain):
        np.testing.assert_array_equal(function.one(ROWS[1]), ROWS[1] * 2)


def test_programs_are_limited(monkeypatch):
    monkeypatch.setattr(map_function, "_MAX_PROGRAMS", 1)
    calls = []

    def function(x):
        calls.append(type(x))
        return x + 1

    counted = MapFunction(function)
    assert [counted.one(np.ones(n)).shape for n in (1, 2, 1)] == [(1,), (2,), (1,)]
    assert calls.count(np.ndarray) == 1


def test_surroundings_know_whether_the_call_is_traced():
    seen = set()

    @contextlib.contextmanager
    def within(traced):
        seen.add(traced)
        yield

    MapFunction(doubled, within).many(ROWS)
    assert seen == {True}
    MapFunction(by_value, within).one(ROWS[0])
    assert seen == {True, False}


def test_the_program_computes_one_row():
    closed, structure = MapFunction(lambda x: {"y": jnp.sum(x)}).program(SPEC)
    assert [v.aval.shape for v in closed.jaxpr.outvars] == [()]
    assert structure.num_leaves == 1


def test_output_spec():
    varying = ArraySpec((None, 2), SPEC.dtype)
    assert MapFunction(doubled).output_spec(varying, lambda: None) == varying
    assert MapFunction(by_value).output_spec(varying, lambda: ROWS) == varying
    with pytest.raises(
        ValueError, match="cannot trace this map function, and the dataset is empty"
    ):
        MapFunction(by_value).output_spec(varying, lambda: None)


def test_an_uncompiled_call_may_overwrite_its_element():
    row = np.zeros(2)
    row.setflags(write=False)

    def fill(x, y):
        x[:] = y
        return x

    assert call_once(fill, (row, 3)).tolist() == [3, 3]
    assert row.tolist() == [0, 0]


def test_one_element_and_the_first_rows_of_a_batch():
    positive = MapFunction(lambda x: x > 0)
    assert holds(positive, np.float32(1))
    assert mask(positive, np.array([1, -1, 1], np.float32), 2).tolist() == [True, False]


@pytest.mark.parametrize("wrong", [lambda x: x, lambda x: x[None] > 0])
def test_anything_but_one_boolean(wrong):
    with pytest.raises(TypeError, match="must return one boolean for each element"):
        holds(MapFunction(wrong), np.float32(1))
