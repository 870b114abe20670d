"""The state of all objects at one moment: what a save writes."""

import dataclasses
import json
import zlib
from collections.abc import Sequence
from typing import Any

import jax

from spmd.checkpoint.arrays import ArrayEntry, describe_array, saved_form
from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.graph import TrackedObject, walk
from spmd.checkpoint.manifest import SavedObject
from spmd.checkpoint.position import encode_position
from spmd.typing import AnyArray, Stateful


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What a save writes.

    Attributes:
        nodes: the graph.
        arrays: arrays by name.
        positions: of iterators, by path, encoded as JSON.
    """

    nodes: list[SavedObject]
    arrays: dict[str, AnyArray]
    positions: dict[str, Any]


def take_snapshot(root: Stateful) -> Snapshot:
    """Reads the state of all objects that can be reached from a root.

    Raises:
        CheckpointError: an object cannot be saved.
    """
    nodes: list[SavedObject] = []
    arrays: dict[str, AnyArray] = {}
    positions: dict[str, Any] = {}
    for obj in walk(root):
        view, entries, value = obj.view, tuple[ArrayEntry, ...](), None
        if view.kind == "arrays":
            pairs = _arrays_of(obj)
            entries = tuple(entry for entry, _ in pairs)
            arrays.update((entry.name, array) for entry, array in pairs)
        elif view.kind != "node":
            value = view.read()
            if view.kind == "position":
                positions[obj.path] = encode_position(value, obj.path)
                value = None
        nodes.append(SavedObject(obj.path, view.kind, obj.children, entries, value))
    return Snapshot(nodes, arrays, positions)


def fingerprints(nodes: Sequence[SavedObject]) -> dict[str, str]:
    """Summarizes what has to be the same in all processes: kinds, shapes, numbers and strings.

    Returns:
        A short hash for each object, by path.
    """
    texts = {
        node.path: json.dumps([node.kind, [str(entry) for entry in node.entries], node.value])
        for node in nodes
    }
    return {path: f"{zlib.crc32(text.encode()):08x}" for path, text in texts.items()}


def _arrays_of(obj: TrackedObject) -> list[tuple[ArrayEntry, AnyArray]]:
    """Lists the arrays of a variable, or the one array in a container, with their descriptions."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(obj.view.read())
    arrays: list[tuple[ArrayEntry, AnyArray]] = []
    for path, leaf in leaves:
        steps = [jax.tree_util.keystr((key,), simple=True) for key in path]
        name = "/".join([obj.path, *steps])
        entry = describe_array(name, leaf)
        if entry.prng is None and leaf.dtype.kind in "OSUM":
            raise CheckpointError(
                f"A checkpoint cannot keep {name}, an array of {leaf.dtype}: only numbers and booleans are "
                "arrays there. Keep strings in lists."
            )
        arrays.append((entry, saved_form(leaf)))
    return arrays
