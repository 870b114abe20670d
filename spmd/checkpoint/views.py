"""What a checkpoint sees of an object: its named children, or its value.

A *view* is of one of four kinds. A *node* has children, by names that stay the same from run to run: a
model, a list, a `Checkpoint`. The others hold state: *arrays* (a variable, or an array in a container),
a *value* (a number or a text), or a *position* (of an iterator). Objects that no view knows are no part
of a checkpoint.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax
import numpy as np

from spmd.checkpoint.position import HasPosition
from spmd.state import Adapter, Group, adapter_of, overwritten

_VALUES = (bool, int, float, str)
_STEP = re.compile(r"\.(\w+)|\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\]]*)\]")


@dataclasses.dataclass(frozen=True)
class View:
    """What a checkpoint sees of one object.

    Attributes:
        thing: the object; if it stands for another one, that one.
        kind: see the module's text.
        children: of a node, by name.
        read: gives a pytree of arrays, a value or a position.
        write: takes what `read` gave; None if the container takes it instead.
        grows: whether the object makes variables late, at its first use.
        items: the dict that an object keeps its children in, if plain values may be among them.
    """

    thing: Any
    kind: Literal["node", "arrays", "value", "position"]
    children: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    read: Callable[[], Any] | None = None
    write: Callable[[Any], None] | None = None
    grows: bool = False
    items: dict[str, Any] | None = None


_MAKERS: list[tuple[type[Any], Callable[[Any], View]]] = []


def register_view(kind: type[Any], make: Callable[[Any], View]) -> None:
    """Says what a checkpoint sees of the objects of a class.

    Args:
        kind: the class.
        make: called with an object, gives its view.
    """
    _MAKERS.append((kind, make))


def view_of(thing: Any) -> View | None:
    """Looks at an object.

    Args:
        thing: any object.

    Returns:
        What a checkpoint sees of it; None if it has no state that can be kept.
    """
    for kind, make in _MAKERS:
        if isinstance(thing, kind):
            return make(thing)
    adapter = adapter_of(thing)
    if adapter is not None:
        return _of_library(thing, adapter)
    if isinstance(thing, type) or thing is None:
        return None
    if isinstance(thing, HasPosition):
        return View(thing, "position", read=thing.get_state, write=thing.set_state)
    if isinstance(thing, (jax.Array, np.ndarray, np.generic)):
        return View(thing, "arrays", read=lambda: thing)
    if isinstance(thing, _VALUES):
        return View(thing, "value", read=lambda: thing)
    return _of_container(thing)


def _of_library(thing: Any, adapter: Adapter) -> View:
    if adapter.is_variable(thing):
        (_, holder), *_ = adapter.variables(thing)
        if holder is not thing:  # it stands for another library's variable
            found = view_of(holder)
            assert found is not None
            return found
        return view_of_variable(thing, adapter)
    children = adapter.children(thing)
    if children is not None:
        return View(thing, "node", children, grows=True)
    return View(thing, "node", _nested([(_steps(path), v) for path, v in adapter.variables(thing)]))


def view_of_variable(variable: Any, adapter: Adapter) -> View:
    """Sees a variable as what its adapter reads and writes.

    Args:
        variable: a variable.
        adapter: of its library.
    """

    def write(value: Any) -> None:
        adapter.set(variable, overwritten(variable, adapter.get(variable), value))

    return View(variable, "arrays", read=lambda: adapter.get(variable), write=write)


register_view(Group, lambda group: View(group, "node", group))


def _steps(path: str) -> list[str]:
    """`.layers[0]['x']` as the names layers, 0, x."""
    return [name or key.strip("'\"") for name, key in _STEP.findall(path)]


def _nested(found: list[tuple[list[str], Any]]) -> Group:
    root = Group()
    for steps, variable in found:
        here = root
        for step in steps[:-1]:
            here = here.setdefault(step, Group())
        here[steps[-1]] = variable
    return root


def _of_container(thing: Any) -> View | None:
    items = items_of(thing)
    if items is None:
        return None
    return View(thing, "node", {name: child for name, child in items.items() if child is not None})


def items_of(thing: Any) -> dict[str, Any] | None:
    """Takes a container apart, one level deep.

    Args:
        thing: a list, tuple, dict, or another pytree.

    Returns:
        What is in it, by name; None if it is no container.
    """
    if isinstance(thing, dict):
        return {str(key): child for key, child in thing.items()}
    found, structure = jax.tree_util.tree_flatten_with_path(
        thing, is_leaf=lambda child: child is not thing
    )
    if jax.tree_util.treedef_is_leaf(structure):
        return None
    return {
        "".join(_steps(jax.tree_util.keystr(path))) or str(index): child
        for index, (path, child) in enumerate(found)
    }


def with_items(thing: Any, items: Mapping[str, Any]) -> Any:
    """Puts other things into a container.

    Args:
        thing: a container.
        items: what is in it now, by name, in the order of `items_of`.

    Returns:
        The container: a list or dict itself, changed; of others, a new one.
    """
    if isinstance(thing, list):
        thing[:] = items.values()
        return thing
    if isinstance(thing, dict):
        thing.update(zip(thing, items.values(), strict=True))
        return thing
    structure = jax.tree.structure(thing, is_leaf=lambda child: child is not thing)
    return jax.tree.unflatten(structure, items.values())
