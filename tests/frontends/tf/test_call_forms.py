"""Forms of a call: which are one, so that they share a program."""

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from frontends import tf
from frontends.tf.call_forms import CallForms

THING = object()


def positional(a, b=2, c=None): ...
def by_name(a, *, b=2, c=None): ...
def objects(a, b=THING, c=3): ...
def only(a, b=THING, c=3, /, d=4): ...
def rest(a, b=2, *others, c=3, **more): ...


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (
            positional,
            [((1,), {}), ((1, 2), {}), ((1, 2, None), {}), ((), {"a": 1}), ((1,), {"b": 2})],
        ),
        (by_name, [((1,), {}), ((1,), {"b": 2}), ((), {"a": 1, "c": None})]),
        (objects, [((1,), {}), ((1,), {"c": 3}), ((1,), {"b": THING})]),
        (only, [((1, THING, 3), {}), ((1, THING, 3), {"d": 4})]),
        (rest, [((1,), {}), ((1,), {"b": 2}), ((1,), {"c": 3})]),
        (rest, [((1, 2, 5), {}), ((1, 2, 5), {"c": 3})]),
        (functools.partial(positional, 1), [((), {}), ((2,), {}), ((), {"c": None})]),
        (functools.partial(positional, b=2), [((1,), {}), ((1,), {"b": 2})]),
    ],
)
def test_calls_that_are_one(function, calls):
    forms = CallForms(function)
    first, *others = [forms.one(*call) for call in calls]
    assert others == [first] * len(others)


@pytest.mark.parametrize("function", [positional, by_name, objects, only, rest, print, dict])
def test_the_function_gets_what_it_got(function):
    """Whatever the form, each parameter has the value that it has in the call."""

    def record(names: str, call: Any) -> Any:
        source = f"lambda {names}: locals()"
        return eval(source, {"THING": THING})(*call[0], **call[1])

    names = {
        positional: "a, b=2, c=None",
        by_name: "a, *, b=2, c=None",
        objects: "a, b=THING, c=3",
        only: "a, b=THING, c=3, /, d=4",
    }.get(function, "a, b=2, *others, c=3, **more")
    forms = CallForms(function)
    args = [(1,), (1, 2), (1, THING), (1, 7, 8), (1, THING, 8), (1, THING, 3), (1, 2, 3, 4)]
    kwargs: list[Any] = [
        {},
        {"b": 2},
        {"b": THING},
        {"c": 3},
        {"c": 9},
        {"b": 5, "c": None},
        {"d": 4},
    ]
    compared = 0
    for call in itertools.product(args, kwargs):
        try:
            expected = record(names, call)
        except TypeError:
            continue
        compared += 1
        assert record(names, forms.one(*call)) == expected
    assert compared > 5


def test_calls_that_the_function_does_not_take_stay_as_they_are():
    forms = CallForms(positional)
    for call in (((), {}), ((1, 2, 3, 4), {}), ((1,), {"a": 1}), ((1,), {"wrong": 1})):
        assert forms.one(*call) == call


def test_zeros_of_other_signs_and_types_are_other_calls():
    def function(a, *, flag=False): ...

    forms = CallForms(function)
    assert forms.one((1,), {"flag": False}) == ((1,), {})
    assert forms.one((1,), {"flag": 0}) == ((1,), {"flag": 0})


def test_a_wrapper_takes_what_the_wrapper_takes():
    """A decorator may pass on other arguments than it gets."""

    @functools.wraps(positional)
    def wrapper(*args, **kwargs): ...

    assert CallForms(wrapper).one((1,), {}) == ((1,), {})


def test_a_default_may_be_an_array():
    table = np.ones((1, 3), np.float32)
    assert float(tf.function(lambda x, t=table: x + t[0, 0])(tf.constant(1.0))) == 2
