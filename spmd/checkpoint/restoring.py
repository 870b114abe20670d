"""Giving saved values to objects: now, and to variables that are made later, as soon as they are made.

A *restoration* pairs saved objects with objects by their names. What finds no object waits for one. It keeps
nothing alive that it restores into.
"""

import logging
import os
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from spmd.checkpoint import arrays, manifest
from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.graph import Match, Saved, match, position_of
from spmd.checkpoint.saving import Save
from spmd.checkpoint.views import items_of, view_of, with_items
from spmd.replica import current_frame
from spmd.state import adapter_of, defer, drop_deferred

_LOG = logging.getLogger("spmd.checkpoint")
_SHOWN = 10


class Restoration:
    """A checkpoint that is being restored, or waits for objects that do not exist yet."""

    def __init__(self, path: str, timeout: float) -> None:
        """Reads the graph of a checkpoint.

        Args:
            path: the checkpoint's.
            timeout: seconds that one process waits for the others.

        Raises:
            CheckpointError: there is no checkpoint, or its manifest is damaged.
        """
        read = manifest.read_manifest(path)
        self.path = path
        self.nodes: Sequence[Saved] = read.nodes
        self.expect_partial = False
        self._positions = read.positions
        self._timeout = timeout
        self._matched: set[int] = set()
        # From where to look again: the root, and what makes variables late.
        self._starts: dict[int, weakref.ref[Any]] = {}

    def start(self, root: Any) -> None:
        """Restores into an object and what it reaches.

        Args:
            root: the object.

        Raises:
            CheckpointError: what is there does not fit.
        """
        self._extend([(0, root)])
        if self.unmatched():
            defer(id(self), self.settle)

    def settle(self) -> None:
        """Restores into objects that were made since; does nothing while a step is traced.

        Raises:
            CheckpointError: what was made does not fit.
        """
        if current_frame() is not None:
            return
        starts = [(index, thing) for index, of in self._starts.items() if (thing := of())]
        try:
            if starts and self.unmatched():
                self._extend(starts)
        except CheckpointError:
            self.forget()
            raise
        if not starts or not self.unmatched():
            self.forget()

    def forget(self) -> None:
        """Waits for nothing any more."""
        drop_deferred(id(self))

    def unmatched(self) -> list[Saved]:
        """Lists the saved objects whose value has gone nowhere."""
        return [
            node
            for index, node in enumerate(self.nodes)
            if node.kind != "node" and index not in self._matched
        ]

    def warn(self) -> None:
        """Tells of values that went nowhere, when the last object that might have taken them is gone."""
        left = self.unmatched()
        if not left or self.expect_partial or any(of() for of in self._starts.values()):
            return
        self.expect_partial = True  # once is enough
        _LOG.warning(
            "Of the checkpoint %s these values found no object: %s. If that is meant, write "
            "restore(path).expect_partial().",
            self.path,
            ", ".join(node.path for node in left[:_SHOWN]) + (" ..." if len(left) > _SHOWN else ""),
        )

    def _extend(self, starts: Sequence[tuple[int, Any]]) -> None:
        new: dict[int, Match] = {}
        for index, thing in starts:
            for pair in match(self.nodes, index, thing):
                if pair.index not in self._matched:
                    new.setdefault(pair.index, pair)
                if pair.index not in self._starts and (pair.index == 0 or pair.found.view.grows):
                    self._starts[pair.index] = weakref.ref(pair.found.view.thing)
                    weakref.finalize(pair.found.view.thing, self.warn)
        pairs = list(new.values())
        self._check(pairs)
        # Values are no part of what somebody may be tracing.
        with jax.ensure_compile_time_eval():
            self._assign(pairs, starts)
        self._matched.update(new)

    def _check(self, pairs: Sequence[Match]) -> None:
        wrong = [line for pair in pairs for line in _misfits(pair)]
        if wrong:
            more = [f"  and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else []
            raise CheckpointError(
                f"The checkpoint {self.path} does not fit what it is restored into:\n"
                + "\n".join([*wrong[:_SHOWN], *more])
                + "\nMake these as they were when it was saved, or leave them out of the Checkpoint."
            )

    def _assign(self, pairs: Sequence[Match], starts: Sequence[tuple[int, Any]]) -> None:
        # Before anything else changes, since an iterator may refuse a position.
        for pair in pairs:
            if pair.saved.kind == "position":
                self._set_position(pair)
        read = self._read(pairs)
        items: dict[int, dict[str, Any]] = {}
        for pair in pairs:
            view, saved = pair.found.view, pair.saved
            if saved.kind in ("node", "position"):
                continue
            if saved.kind == "arrays":
                assert view.read is not None
                structure = jax.tree.structure(view.read())
                value = jax.tree.unflatten(structure, [read[e.name] for e in saved.entries])
            else:
                value = saved.value
            if view.write is not None:
                view.write(value)
            elif isinstance(pair.found.key, tuple):
                owner, name = pair.found.key
                items.setdefault(owner, {})[name] = value
        if items:
            for _, thing in starts:
                _put(thing, items)

    def _read(self, pairs: Sequence[Match]) -> dict[str, Any]:
        wanted = {
            entry.name: (entry, target)
            for pair in pairs
            if pair.saved.kind == "arrays"
            for entry, target in zip(pair.saved.entries, _leaves(pair), strict=True)
        }
        folder = os.path.join(manifest.folder_of(self.path), manifest.ARRAYS)
        Save.settle()  # what is made late is read whenever that is, and what writes must not be disturbed
        return arrays.read(folder, wanted, self._timeout)

    def _set_position(self, pair: Match) -> None:
        assert pair.found.view.write is not None
        position = position_of(self._position(pair.saved.path))
        try:
            pair.found.view.write(position)
        except ValueError as error:
            raise CheckpointError(
                f"The checkpoint {self.path} has a position of {pair.found.path} that does not fit: {error}"
            ) from error

    def _position(self, path: str) -> Any:
        states = [states[path] for states in self._positions]
        if len(states) == jax.process_count():
            return states[jax.process_index()]
        if any(state != states[0] for state in states):
            raise CheckpointError(
                f"The checkpoint {self.path} was saved by {len(states)} processes, in which {path} had different "
                f"positions, and there are {jax.process_count()} processes now. Restore it with as many, or save "
                "an input whose position counts global batches."
            )
        return states[0]


def _misfits(pair: Match) -> list[str]:
    """Says what of an object does not fit, one line each."""
    path, saved, view = pair.found.path, pair.saved, pair.found.view
    if saved.kind != view.kind:
        return [f"  {path}: expected {_KINDS[view.kind]}, found {_KINDS[saved.kind]}"]
    if saved.kind != "arrays":
        return []
    leaves = _leaves(pair)
    if len(leaves) != len(saved.entries):
        return [f"  {path}: expected {len(leaves)} arrays, found {len(saved.entries)}"]
    pairs = zip(saved.entries, leaves, strict=True)
    found = [(entry, arrays.misfit(entry, leaf)) for entry, leaf in pairs]
    return [f"  {entry.name}: expected {held}, found {entry}" for entry, held in found if held]


_KINDS = {
    "node": "an object with parts",
    "arrays": "an array",
    "value": "a number or text",
    "position": "the position of an iterator",
}


def _leaves(pair: Match) -> list[Any]:
    read = pair.found.view.read
    assert read is not None
    return jax.tree.leaves(read())


def _put(thing: Any, items: Mapping[int, Mapping[str, Any]]) -> Any:
    """Puts plain values into the containers that they are in; returns what takes the container's place."""
    view = view_of(thing)
    if view is None or view.kind != "node" or adapter_of(view.thing) is not None:
        return thing
    container = view.thing if view.items is None else view.items
    parts = items_of(container) or {}
    own = items.get(id(view.thing), {})
    new = {name: own[name] if name in own else _put(part, items) for name, part in parts.items()}
    if all(new[name] is part for name, part in parts.items()):
        return thing
    made = with_items(container, new)
    return made if view.items is None else thing
