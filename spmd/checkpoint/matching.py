"""Matching objects with saved objects, by the names that lead to them."""

import dataclasses
from collections.abc import Sequence

import jax

from spmd.checkpoint.arrays import describe_array
from spmd.checkpoint.graph import TrackedObject, join, track
from spmd.checkpoint.manifest import SavedObject
from spmd.typing import AnyArray, Stateful

_KINDS = {
    "node": "an object with parts",
    "arrays": "an array",
    "value": "a number or string",
    "position": "the position of an iterator",
}


@dataclasses.dataclass(frozen=True)
class Match:
    """An object, and the saved object that it matches, with its index."""

    index: int
    saved: SavedObject
    obj: TrackedObject


def match(nodes: Sequence[SavedObject], index: int, obj: Stateful) -> list[Match]:
    """Matches objects with saved objects, breadth-first; those without a counterpart are left out.

    Args:
        nodes: all saved objects.
        index: of the one to begin with.
        obj: its counterpart.

    Raises:
        CheckpointError: an object cannot be saved.
    """
    first = nodes[index]
    matches = [Match(index, first, track(obj, first.path, None))]
    seen = {index}
    for parent in matches:  # grows while it is read
        view = parent.obj.view
        for name, child in parent.saved.children.items():
            if name in view.children and child not in seen:
                seen.add(child)
                path = join(parent.obj.path, name)
                found = track(view.children[name], path, (id(view.obj), name))
                matches.append(Match(child, nodes[child], found))
    return matches


def arrays_of(found: Match) -> list[AnyArray]:
    """Lists the arrays that the object has now."""
    return jax.tree.leaves(found.obj.view.read())


def mismatches(found: Match) -> list[str]:
    """Lists where an object and its saved counterpart differ in kind, shape or dtype, one line each."""
    path, saved, view = found.obj.path, found.saved, found.obj.view
    if saved.kind != view.kind:
        return [f"  {path}: expected {_KINDS[view.kind]}, found {_KINDS[saved.kind]}"]
    if saved.kind != "arrays":
        return []
    arrays = arrays_of(found)
    if len(arrays) != len(saved.entries):
        return [f"  {path}: expected {len(arrays)} arrays, found {len(saved.entries)}"]
    return [
        f"  {entry.name}: expected {own}, found {entry}"
        for entry, array in zip(saved.entries, arrays, strict=True)
        if (own := describe_array(entry.name, array)) != entry
    ]
