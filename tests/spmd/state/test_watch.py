"""What a watch notices, what it lets pass, and what it calls replaced."""

import types
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest
from flax import nnx

from spmd.state.watch import Watch, cell_contents


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def on_an_item(value: Any) -> tuple[Watch, Callable[[Any], None], str]:
    watch, container = Watch(), {"place": value}
    watch.item(container, "place")
    return watch, lambda new: container.update(place=new), "'place'"


def on_an_entry_of_a_list(value: Any) -> tuple[Watch, Callable[[Any], None], str]:
    watch, container = Watch(), [0, value]
    watch.item(container, 1)
    return watch, lambda new: container.__setitem__(1, new), "1"


def on_an_attribute(value: Any) -> tuple[Watch, Callable[[Any], None], str]:
    watch, owner = Watch(), Slotted(value)
    watch.attribute(owner, "value")
    return watch, lambda new: setattr(owner, "value", new), "'value'"


def on_a_cell(value: Any) -> tuple[Watch, Callable[[Any], None], str]:
    watch, cell = Watch(), types.CellType(value)
    watch.cell(cell, "place")
    return watch, lambda new: setattr(cell, "cell_contents", new), "'place'"


def on_all_items(value: Any) -> tuple[Watch, Callable[[Any], None], str]:
    watch, attributes = Watch(), {"other": 1, "place": value}
    watch.all_items(attributes)
    return watch, lambda new: attributes.update(place=new), "attribute 'place'"


PLACES = [on_an_item, on_an_entry_of_a_list, on_an_attribute, on_a_cell, on_all_items]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "make",
    [
        object,
        lambda: lambda: None,
        lambda: [1],
        # These say that they are equal to one another.
        lambda: nnx.Param(jnp.float32(1.0)),
        lambda: jnp.float32(1.0),
        lambda: (1, nnx.Param(jnp.float32(1.0))),
        # And these cannot say.
        lambda: nnx.Param(jnp.ones(2)),
    ],
)
def test_another_object_is_noticed_though_it_is_equal(place: Any, make: Any) -> None:
    first = make()
    watch, put, name = place(first)
    watch.freeze()
    assert watch.changed() is None
    put(make())
    for _ in range(2):
        assert watch.changed() == f"{name} changed"
    assert watch.replaced()
    put(first)
    assert watch.changed() is None
    assert not watch.replaced()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("before", "now"),
    [(0.5, 0.25), (True, False), ("a", "b"), (None, 1), ((1, 2), (1, 3)), (1, object())],
)
def test_another_number_is_noticed_and_replaces_nothing(place: Any, before: Any, now: Any) -> None:
    watch, put, name = place(before)
    watch.freeze()
    put(now)
    assert watch.changed() == f"{name} changed"
    assert not watch.replaced()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "make",
    [
        lambda: float("0.1"),
        lambda: int("1" * 30),
        lambda: tuple(map(float, "12")),
        lambda: "".join(map(str, range(3))),
    ],
)
def test_an_equal_number_is_no_change(place: Any, make: Any) -> None:
    watch, put, _ = place(make())
    watch.freeze()
    for _ in range(2):
        put(make())
        assert watch.changed() is None
    assert not watch.replaced()


def test_a_truth_is_not_the_number_that_it_is_equal_to() -> None:
    watch, put, _ = on_an_item(1)
    watch.freeze()
    put(True)
    assert watch.changed() == "'place' changed"


def test_what_is_gone_is_noticed() -> None:
    model = object()
    container, owner, cell = {"place": model}, Slotted(model), types.CellType(model)
    attributes = {"place": model}
    watch = Watch()
    watch.item(container, "place")
    watch.attribute(owner, "value")
    watch.cell(cell, "name")
    watch.all_items(attributes)
    watch.freeze()
    for remove, put, gone in [
        (container.clear, lambda: container.update(place=model), "'place'"),
        (lambda: delattr(owner, "value"), lambda: setattr(owner, "value", model), "'value'"),
        (
            lambda: delattr(cell, "cell_contents"),
            lambda: setattr(cell, "cell_contents", model),
            "'name'",
        ),
        (attributes.clear, lambda: attributes.update(place=model), "attribute 'place'"),
    ]:
        assert watch.changed() is None
        remove()
        assert watch.changed() == f"{gone} is gone"
        assert watch.replaced()
        put()
    assert watch.changed() is None


def test_a_new_attribute_is_noticed() -> None:
    attributes: dict[str, Any] = {}
    watch = Watch()
    watch.all_items(attributes)
    watch.freeze()
    attributes["model"] = object()
    assert watch.changed() == "attribute 'model' changed"
    assert not watch.replaced()


@pytest.mark.parametrize("container", [[1], {"a": 1}])
def test_a_container_that_grows_is_noticed(container: Any) -> None:
    watch = Watch()
    watch.length(container)
    watch.freeze()
    assert watch.changed() is None
    container.append(2) if isinstance(container, list) else container.update(b=2)
    assert watch.changed() == "a container grew or shrank"
    assert not watch.replaced()


def test_a_cell_that_is_not_bound_yet_is_left_out() -> None:
    cell = types.CellType()
    watch = Watch()
    watch.cell(cell, "later")
    watch.freeze()
    cell.cell_contents = 1
    assert watch.changed() is None
    assert cell_contents(cell) == 1
    assert cell_contents(types.CellType()) is cell_contents(types.CellType())


def test_a_place_is_watched_once() -> None:
    container, attributes = {"place": 1}, {"a": 1}
    watch = Watch()
    for _ in range(2):
        watch.item(container, "place")
        watch.all_items(attributes)
        watch.length(attributes)
    watch.freeze()
    assert len(list(watch._now())) == 1
    container["place"] = attributes["a"] = 2
    assert [name for name, _, _ in watch._differences()] == ["'place'", "attribute 'a'"]


def test_what_tracing_itself_sets_is_no_change() -> None:
    attributes: dict[str, Any] = {"cache": None}
    watch = Watch()
    watch.all_items(attributes)
    attributes["cache"] = attributes["more"] = nnx.Param(jnp.float32(1.0))
    watch.freeze()
    assert watch.changed() is None
    attributes["more"] = nnx.Param(jnp.float32(1.0))
    assert watch.changed() == "attribute 'more' changed"
