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
        seen.add(traced is not None)
        yield

    MapFunction(doubled, within).many(ROWS)
    assert seen == {True}
    MapFunction(by_value, within).one(ROWS[0])
    assert seen == {True, False}


class Counted:
    """Numbers elements from 10 on, and makes the number the first word of each key."""

    def __init__(self):
        self.next = 10

    def reserve(self, count):
        self.next += count
        return self.next - count

    def keys(self, numbers, seeds):
        words = np.stack([numbers, numbers], axis=1).astype(np.uint32)
        return np.repeat(words[:, None], len(seeds), axis=1)


def random_function(function, can_draw=True):
    """A map function that is called with the element and the first word of a key."""
    traced_draws = []

    @contextlib.contextmanager
    def within(traced):
        traced_draws.append(traced)
        yield

    def call(x):
        return function(x, traced_draws[-1].take(None)[0])

    return MapFunction(call, within, None, Counted() if can_draw else None)


def test_each_row_draws_by_a_number_of_its_own():
    function = random_function(lambda x, word: (x, word))
    assert function.traces(SPEC)
    assert function.is_random
    assert function.many(ROWS, function.numbers(2, ROWS))[1].tolist() == [10, 11, 11]
    assert function.one(ROWS[0])[1] == 12
    assert function.stacked(list(ROWS))[1].tolist() == [13, 14, 15]
    assert not MapFunction(doubled, None, None, Counted()).is_random


def by_length(x, draw):
    """Draws for two components or more, and cannot be traced for four or more."""
    if len(x) > 3:
        np.asarray(x)
    return x + draw()[0] if len(x) > 1 else x


@pytest.mark.parametrize("lengths", [(1, 2, 3), (2, 1, 4)])
def test_what_is_drawn_may_depend_on_the_shape(lengths, monkeypatch):
    monkeypatch.setattr(map_function, "_CALLS_BEFORE_PROGRAM", 0)
    current = []

    @contextlib.contextmanager
    def within(traced):
        current.append(traced)
        yield

    def draw():
        return current[-1].take(None) if current[-1] is not None else (5,)

    function = MapFunction(lambda x: by_length(x, draw), within, None, Counted())
    # Elements that draw nothing take no number.
    numbers = iter(range(10, 20))
    expected = [{1: 0, 4: 5}.get(length) for length in lengths]
    expected = [next(numbers) if word is None else word for word in expected]
    zeros = [np.zeros(length, np.uint32) for length in lengths]
    assert [int(function.one(x)[0]) for x in zeros] == expected
    for length in lengths[:2]:
        batch = np.zeros((3, length), np.uint32)
        drawn = function.many(batch, function.numbers(2, batch))[:2, 0].tolist()
        assert drawn == ([0, 0] if length == 1 else [next(numbers), next(numbers)])


def test_a_function_that_may_not_draw_is_not_compiled():
    assert not random_function(lambda x, word: word, can_draw=False).traces(SPEC)


def test_functions_that_draw_are_compiled_for_another_shape_if_it_comes_often(monkeypatch):
    monkeypatch.setattr(map_function, "_CALLS_BEFORE_PROGRAM", 1)
    calls = []

    def call(x, word):
        calls.append(np.shape(x))
        return x + word

    function = random_function(call)
    assert function.traces(SPEC)
    assert function._may_compile("one", ROWS[0])
    assert [function._may_compile("one", ROWS[0][:1]) for _ in range(3)] == [False, True, True]


def test_a_predicate_may_draw():
    predicate = random_function(lambda x, word: word > 10)
    assert predicate.traces(SPEC)
    assert mask(predicate, ROWS, 2).tolist() == [False, True]


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
