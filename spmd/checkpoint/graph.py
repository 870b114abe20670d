"""The objects of a checkpoint as a graph: what is saved of it, and how paths are named.

Objects are found from the root, nearest first, by the names of `views`. The *path* of an object is the way on
which it is found first: `model/layers/0/kernel`. An object that several ways lead to is saved once, and all of the
ways are, so a checkpoint of a model with its optimizer can be restored into the optimizer alone.
"""

import dataclasses
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.views import View, view_of

Key = int | tuple[int, str]


@dataclasses.dataclass(frozen=True)
class Found:
    """An object that was found.

    Attributes:
        path: see the module's text.
        view: what a checkpoint sees of it.
        key: what it is known by: its identity, or its place if it is a plain value in a container.
        children: index of each child among what was found, by name.
    """

    path: str
    view: View
    key: "Key"
    children: dict[str, int] = dataclasses.field(default_factory=dict[str, int])


def walk(root: Any) -> list[Found]:
    """Finds all objects that belong to a checkpoint.

    Args:
        root: where to begin.

    Returns:
        What was found; the root is the first.

    Raises:
        CheckpointError: an object on the way cannot be kept.
    """
    found = [look(root, "", None)]
    known = {found[0].key: 0}
    for here in found:  # grows while it is read
        for name, thing in here.view.children.items():
            child = look(thing, join(here.path, name), (id(here.view.thing), name))
            if child.key not in known:
                known[child.key] = len(found)
                found.append(child)
            here.children[name] = known[child.key]
    return found


def look(thing: Any, path: str, place: tuple[int, str] | None) -> Found:
    """Looks at an object that has to be part of a checkpoint.

    Args:
        thing: the object.
        path: where it was found.
        place: identity of what it is in, and its name there.

    Returns:
        What was found.

    Raises:
        CheckpointError: it cannot be kept.
    """
    view = view_of(thing)
    if view is None:
        raise CheckpointError(
            f"A checkpoint cannot keep {path or 'its root'}, a {type(thing).__name__}. It keeps models, "
            "optimizers, metrics and variables of Flax NNX, Keras and spmd, arrays, numbers and texts, lists, "
            "dicts and other pytrees of such, and iterators with get_state() and set_state(). Leave it out, "
            "or give it these two methods."
        )
    # What is plain in a container is no object of its own: Python keeps one 0 for all.
    plain = view.kind != "node" and view.write is None
    return Found(path, view, place if plain and place is not None else id(view.thing))


def join(path: str, name: str) -> str:
    """Adds a name to a path, with a slash between them; a slash in the name is written as TensorFlow does."""
    name = name.replace(".", "..").replace("/", ".S")
    return f"{path}/{name}" if path else name


# ---- Arrays as they are written.


@dataclasses.dataclass(frozen=True)
class Entry:
    """One array of a checkpoint.

    Attributes:
        name: its path.
        shape: as it is written.
        dtype: name of the type of its elements.
        prng: of random keys, which are written as numbers: the name of their generator.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    prng: str | None = None

    def __str__(self) -> str:
        keys = f", keys of {self.prng}" if self.prng else ""
        return f"{self.dtype}{list(self.shape)}{keys}"


def entries_of(found: Found) -> list[tuple[Entry, Any]]:
    """Lists the arrays of a variable, or the one array that was found.

    Args:
        found: of the kind arrays.

    Returns:
        Pairs of the description and the array, keys as numbers.

    Raises:
        CheckpointError: an array has no numbers.
    """
    assert found.view.read is not None
    leaves, _ = jax.tree_util.tree_flatten_with_path(found.view.read())
    return [_entry("/".join([found.path, *map(_step, path)]), leaf) for path, leaf in leaves]


def _step(key: Any) -> str:
    return jax.tree_util.keystr((key,), simple=True)


def _entry(name: str, leaf: Any) -> tuple[Entry, Any]:
    prng = None
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        prng, leaf = str(jax.random.key_impl(leaf)), jax.random.key_data(leaf)
    elif leaf.dtype.kind in "OSUM":
        raise CheckpointError(
            f"A checkpoint cannot keep {name}, an array of {leaf.dtype}: only numbers and booleans are arrays there. "
            "Keep texts in lists."
        )
    return Entry(name, tuple(leaf.shape), leaf.dtype.name, prng), leaf


# ---- The saved graph.


@dataclasses.dataclass(frozen=True)
class Saved:
    """An object in a checkpoint.

    Attributes:
        path: where it was found when it was saved.
        kind: as in `views`.
        children: index of each child among all saved objects, by name.
        entries: its arrays.
        value: its number or text.
    """

    path: str
    kind: str
    children: Mapping[str, int]
    entries: tuple[Entry, ...] = ()
    value: Any = None


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What is to be written.

    Attributes:
        nodes: the graph.
        arrays: arrays by name.
        positions: of iterators, by path, as JSON can hold them.
    """

    nodes: list[Saved]
    arrays: dict[str, Any]
    positions: dict[str, Any]


def snapshot(root: Any) -> Snapshot:
    """Reads all state that can be reached.

    Args:
        root: where to begin.

    Returns:
        What is to be written.

    Raises:
        CheckpointError: something cannot be kept.
    """
    nodes: list[Saved] = []
    arrays: dict[str, Any] = {}
    positions: dict[str, Any] = {}
    for found in walk(root):
        view, entries, value = found.view, (), None
        if view.kind == "arrays":
            pairs = entries_of(found)
            entries = tuple(entry for entry, _ in pairs)
            arrays.update((entry.name, leaf) for entry, leaf in pairs)
        elif view.kind != "node":
            assert view.read is not None
            value = view.read()
            if view.kind == "position":
                positions[found.path] = _as_json(value, found.path)
                value = None
        nodes.append(Saved(found.path, view.kind, found.children, entries, value))
    return Snapshot(nodes, arrays, positions)


def fingerprints(nodes: Sequence[Saved]) -> dict[str, str]:
    """Says of all that is saved what processes have to have in common: kind, shapes, numbers and texts.

    Args:
        nodes: what is saved.

    Returns:
        A short text for each, by path.
    """
    texts = {
        node.path: json.dumps([node.kind, [str(entry) for entry in node.entries], node.value])
        for node in nodes
    }
    return {path: f"{zlib.crc32(text.encode()):08x}" for path, text in texts.items()}


def _as_json(state: Any, path: str) -> Any:
    if isinstance(state, bytes):
        return {"bytes": state.hex()}
    try:
        return {"json": json.loads(json.dumps(state, default=_plain_number))}
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"The position of {path} cannot be written: {error}. Let its get_state() return numbers, texts, "
            "lists and dicts of such, or bytes."
        ) from error


def _plain_number(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"it holds a {type(value).__name__}")


def position_of(state: Mapping[str, Any]) -> Any:
    """Reads a position as it was written.

    Args:
        state: from a checkpoint.

    Returns:
        What `set_state` takes.
    """
    return bytes.fromhex(state["bytes"]) if "bytes" in state else state["json"]


# ---- Matching.


@dataclasses.dataclass(frozen=True)
class Match:
    """An object and what was saved of it.

    Attributes:
        index: of the saved object.
        saved: what was saved.
        found: the object.
    """

    index: int
    saved: Saved
    found: Found


def match(nodes: Sequence[Saved], index: int, thing: Any) -> list[Match]:
    """Pairs objects with saved objects, by names, nearest first.

    Args:
        nodes: all saved objects.
        index: of the one that the object belongs to.
        thing: the object.

    Returns:
        Pairs. Objects and saved objects that have no counterpart are left out.

    Raises:
        CheckpointError: an object cannot be kept.
    """
    first = nodes[index]
    pairs = [Match(index, first, look(thing, first.path, None))]
    seen = {index}
    for pair in pairs:  # grows while it is read
        view = pair.found.view
        for name, child in pair.saved.children.items():
            if name in view.children and child not in seen:
                seen.add(child)
                path = join(pair.found.path, name)
                found = look(view.children[name], path, (id(view.thing), name))
                pairs.append(Match(child, nodes[child], found))
    return pairs
