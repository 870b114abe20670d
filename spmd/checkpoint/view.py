"""What a checkpoint sees of an object: its named children, or its value.

A *view* is of one of four kinds. A *node* has children, by names that stay the same from run to run: a
model, a list, a `Checkpoint`. The others hold state: *arrays* (a variable, or an array in a container),
a *value* (a number or a string), or a *position* (of an iterator). An object without a view cannot be part
of a checkpoint.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax
import numpy as np

from spmd.checkpoint.position import HasPosition
from spmd.state import Adapter, Group, adapter_of, overwritten, refreshed, undisturbed, written
from spmd.typing import LibraryVariable, PyTree, Stateful

_VALUES = (bool, int, float, str)
_STEP = re.compile(r"\.(\w+)|\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\]]*)\]")


@dataclasses.dataclass(frozen=True)
class View:
    """What a checkpoint sees of one object.

    Attributes:
        obj: the object, or the one that it stands for.
        kind: see above.
        children: of a node, by name.
        read: returns a pytree of arrays, a value or a position; None for a node.
        write: takes what `read` returned; None if the container has to be given a new value instead.
        grows: whether the object makes variables late, when it is first used.
        items: the dict that an object keeps its children in, if plain values may be among them.
    """

    obj: Stateful
    kind: Literal["node", "arrays", "value", "position"]
    children: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    read: Callable[[], Any] = lambda: None
    write: Callable[[Any], None] | None = None
    grows: bool = False
    items: dict[str, Any] | None = None


_MAKERS: list[tuple[type[Any], Callable[[Any], View]]] = []


def register_view(cls: type[Any], make: Callable[[Any], View]) -> None:
    """Registers a function that makes the view of a class's instances, unless an earlier one does."""
    _MAKERS.append((cls, make))


def view_of(obj: Stateful) -> View | None:
    """Returns what a checkpoint sees of an object; None if it has no state that can be saved."""
    for cls, make in _MAKERS:
        if isinstance(obj, cls):
            return make(obj)
    adapter = adapter_of(obj)
    if adapter is not None:
        return _view_of_library_object(obj, adapter)
    if isinstance(obj, type) or obj is None:
        return None
    if isinstance(obj, HasPosition):
        return View(obj, "position", read=obj.get_state, write=obj.set_state)
    if isinstance(obj, (jax.Array, np.ndarray, np.generic)):
        return View(obj, "arrays", read=lambda: obj)
    if isinstance(obj, _VALUES):
        return View(obj, "value", read=lambda: obj)
    items = items_of(obj)
    if items is None:
        return None
    return View(obj, "node", {name: child for name, child in items.items() if child is not None})


def view_of_variable(variable: LibraryVariable, adapter: Adapter) -> View:
    """Returns the view of a variable, which its library's adapter reads and writes."""

    def read() -> PyTree:
        refreshed([variable])
        with undisturbed(variable):
            return adapter.get(variable)

    def write(value: PyTree) -> None:
        with undisturbed(variable):
            old = adapter.get(variable)
            adapter.set(variable, overwritten(variable, old, value))
            new = adapter.get(variable)
        written(variable, old, new)

    return View(variable, "arrays", read=read, write=write)


def _view_of_library_object(obj: Stateful, adapter: Adapter) -> View:
    if adapter.is_variable(obj):
        (_, holder), *_ = adapter.variables(obj)
        if holder is not obj:  # it stands for another library's variable
            view = view_of(holder)
            assert view is not None
            return view
        return view_of_variable(obj, adapter)
    children = adapter.children(obj)
    if children is not None:
        return View(obj, "node", children, grows=True)
    return View(obj, "node", _nested([(_steps(path), v) for path, v in adapter.variables(obj)]))


register_view(Group, lambda group: View(group, "node", group))


def _steps(path: str) -> list[str]:
    """Splits `.layers[0]['x']` into the names layers, 0, x."""
    return [name or key.strip("'\"") for name, key in _STEP.findall(path)]


def _nested(variables: list[tuple[list[str], LibraryVariable]]) -> Group:
    root = Group()
    for steps, variable in variables:
        group = root
        for step in steps[:-1]:
            group = group.setdefault(step, Group())
        group[steps[-1]] = variable
    return root


def items_of(tree: PyTree) -> dict[str, Any] | None:
    """Returns the items of a list, dict or other pytree by name, one level deep; None for other objects."""
    if isinstance(tree, dict):
        return {str(key): child for key, child in tree.items()}
    if isinstance(tree, list):
        return {str(index): child for index, child in enumerate(tree)}
    leaves, structure = jax.tree_util.tree_flatten_with_path(
        tree, is_leaf=lambda child: child is not tree
    )
    if jax.tree_util.treedef_is_leaf(structure):
        return None
    return {
        "".join(_steps(jax.tree_util.keystr(path))) or str(index): child
        for index, (path, child) in enumerate(leaves)
    }


def with_items(tree: PyTree, items: Mapping[str, Any]) -> PyTree:
    """Replaces the items of a container, given in the order of `items_of`.

    Returns:
        The container: a list or dict is changed in place, any other kind is made anew.
    """
    if isinstance(tree, list):
        tree[:] = items.values()
        return tree
    if isinstance(tree, dict):
        tree.update(zip(tree, items.values(), strict=True))
        return tree
    structure = jax.tree.structure(tree, is_leaf=lambda child: child is not tree)
    return jax.tree.unflatten(structure, items.values())
