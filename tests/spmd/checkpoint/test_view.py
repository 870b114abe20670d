"""What a checkpoint sees of an object."""

import collections
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from spmd import Variable
from spmd.checkpoint import view as view_module
from spmd.checkpoint.view import (
    View,
    items_of,
    register_view,
    view_of,
    view_of_variable,
    with_items,
)
from spmd.state import adapter_of

Pair = collections.namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("obj", "kind"),
    [
        (3, "value"),
        ("text", "value"),
        (np.zeros(2), "arrays"),
        (jnp.zeros(2), "arrays"),
        (Variable(1.0), "arrays"),
        ([1], "node"),
        ({"a": 1}, "node"),
    ],
)
def test_kinds(obj, kind):
    assert view_of(obj).kind == kind


@pytest.mark.parametrize("obj", [None, int, object()])
def test_no_state(obj):
    assert view_of(obj) is None


def test_parts_of_a_module_are_children():
    view = view_of(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
    assert (view.kind, set(view.children)) == ("node", {"kernel", "bias"})


def test_a_variable_is_read_and_written():
    variable = Variable(jnp.zeros(2))
    view = view_of_variable(variable, adapter_of(variable))
    view.write(jnp.ones(2))
    assert variable.value.tolist() == view.read().tolist() == [1, 1]


def test_a_registered_class_is_seen_as_registered():
    class Box:
        content = 3

    register_view(Box, lambda box: view_of(box.content))
    assert view_of(Box()).read() == 3


@pytest.mark.parametrize("container", [[1, 2], (1, 2), Pair(1, 2), {"a": 1, 2: 2}])
def test_items_are_replaced_in_place_where_that_is_possible(container):
    items = items_of(container)
    assert list(items.values()) == [1, 2]
    replaced = with_items(container, dict(zip(items, (3, 4), strict=True)))
    assert type(replaced) is type(container)
    assert list(items_of(replaced).values()) == [3, 4]
    assert (replaced is container) is isinstance(container, (list, dict))


def test_what_is_no_container_has_no_items():
    assert items_of(3) is None


@pytest.fixture
def makers(monkeypatch):
    monkeypatch.setattr(view_module, "_MAKERS", [*view_module._MAKERS])


@pytest.mark.usefixtures("makers")
def test_the_view_that_was_registered_first_is_taken():
    class Base:
        pass

    class Derived(Base):
        pass

    for number, cls in enumerate((Base, Base, Derived)):
        register_view(cls, lambda obj, number=number: View(obj, "value", read=lambda: number))
    assert view_of(obj=Derived()).read() == 0


@pytest.mark.usefixtures("makers")
def test_a_protocol_with_data_has_views():
    @runtime_checkable
    class HasCount(Protocol):
        count_of_view_test: int

    class Counter:
        def __init__(self):
            self.count_of_view_test = 3

    register_view(HasCount, lambda obj: View(obj, "value", read=lambda: obj.count_of_view_test))
    assert view_of(Counter()).read() == 3
