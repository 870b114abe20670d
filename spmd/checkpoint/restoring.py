"""Giving saved values to objects that exist, and to others as soon as they are made.

A *restoration* matches saved objects with live ones; a saved value without an object waits for it. A restoration
keeps none of these objects alive.
"""

import logging
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from spmd.checkpoint.errors import SHOWN, CheckpointError, first_lines
from spmd.checkpoint.intact import Copy
from spmd.checkpoint.manifest import SavedObject, read_manifest
from spmd.checkpoint.matching import Match, arrays_of, match, mismatches
from spmd.checkpoint.position import decode_position
from spmd.checkpoint.reading import read_arrays
from spmd.checkpoint.view import items_of, view_of, with_items
from spmd.errors import UnavailableError
from spmd.replica import current_frame
from spmd.state import adapter_of, defer, drop_deferred
from spmd.typing import Stateful

_LOG = logging.getLogger("spmd.checkpoint")


class Restoration:
    """A checkpoint that is being restored, or waits for objects that do not exist yet."""

    def __init__(self, path: str, timeout: float, copy: Copy | None = None) -> None:
        """Reads the graph of a checkpoint; raises as `read_manifest` does.

        Args:
            path: the checkpoint's.
            timeout: seconds that a process waits for the others.
            copy: what to read, if the checkpoint's own files cannot be; held until all objects have their values.
        """
        manifest = read_manifest(path if copy is None else copy.folder)
        self.path = path
        self._copy = copy
        self.nodes = manifest.nodes
        self.expect_partial = False
        self._positions = manifest.positions
        self._timeout = timeout
        self._matched: set[int] = set()
        # Where to look for new objects: the root, and what makes variables late.
        self._starts: dict[int, weakref.ref[Any]] = {}

    def start(self, root: Stateful) -> None:
        """Restores into an object and all that it reaches; raises CheckpointError if a value does not fit."""
        self._extend([(0, root)])
        if self.unmatched():
            defer(id(self), self.apply_pending)
        else:
            self._copy = None

    def apply_pending(self) -> None:
        """Restores as `start` does into objects made since; does nothing while a step is traced.

        A restoration whose objects' values are lost, with the servers that held them, ends: whoever uses these objects
        gets the error, and whoever has made others in their place does not.
        """
        if current_frame() is not None:
            return
        starts = [(index, obj) for index, ref in self._starts.items() if (obj := ref())]
        try:
            if starts and self.unmatched():
                self._extend(starts)
        except CheckpointError:
            self.cancel()
            raise
        except UnavailableError as error:
            self.cancel()
            self.expect_partial = True  # it says here what is missing
            _LOG.warning(
                "The checkpoint %s is no longer restored into objects whose values are lost: %s",
                self.path,
                error,
            )
            return
        if not starts or not self.unmatched():
            self.cancel()

    def cancel(self) -> None:
        """Stops waiting for objects."""
        self._copy = None
        drop_deferred(id(self))

    def unmatched(self) -> list[SavedObject]:
        """Lists the saved objects whose value has not been restored."""
        return [
            node
            for index, node in enumerate(self.nodes)
            if node.kind != "node" and index not in self._matched
        ]

    def list_unmatched(self) -> str:
        """Names the first of these saved objects."""
        paths = [node.path for node in self.unmatched()]
        return ", ".join(paths[:SHOWN]) + (" ..." if len(paths) > SHOWN else "")

    def _warn(self) -> None:
        """Warns of values that were not restored, once no object is left that might take them."""
        waiting = any(ref() for ref in self._starts.values())
        if self.expect_partial or waiting or not self.unmatched():
            return
        self.expect_partial = True  # once is enough
        _LOG.warning(
            "These values of the checkpoint %s found no object: %s. If that is intended, write "
            "restore(path).expect_partial().",
            self.path,
            self.list_unmatched(),
        )

    def _extend(self, starts: Sequence[tuple[int, Stateful]]) -> None:
        new: dict[int, Match] = {}
        for index, obj in starts:
            for found in match(self.nodes, index, obj):
                view = found.obj.view
                if found.index not in self._matched:
                    new.setdefault(found.index, found)
                if found.index not in self._starts and (found.index == 0 or view.grows):
                    self._starts[found.index] = weakref.ref(view.obj)
                    weakref.finalize(view.obj, self._warn)
        matches = list(new.values())
        lines = [line for found in matches for line in mismatches(found)]
        if lines:
            raise CheckpointError(
                f"The checkpoint {self.path} does not fit the objects that it is restored into:\n"
                + first_lines(lines)
                + "\nMake these as they were when it was saved, or leave them out of the Checkpoint."
            )
        # Restored values are concrete, even if the caller is tracing.
        with jax.ensure_compile_time_eval():
            self._assign(matches, starts)
        self._matched.update(new)

    def _assign(self, matches: Sequence[Match], starts: Sequence[tuple[int, Stateful]]) -> None:
        # First of all, since an iterator may refuse its position.
        for found in matches:
            if found.saved.kind == "position":
                self._set_position(found)
        targets = {
            entry.name: (entry, target)
            for found in matches
            if found.saved.kind == "arrays"
            for entry, target in zip(found.saved.entries, arrays_of(found), strict=True)
        }
        # Also of deferred values, which may be read at any time.
        read = read_arrays(self.path, targets, self._timeout, self._copy)
        items: dict[int, dict[str, Any]] = {}
        for found in matches:
            view, saved = found.obj.view, found.saved
            if saved.kind in ("node", "position"):
                continue
            value = saved.value
            if saved.kind == "arrays":
                structure = jax.tree.structure(view.read())
                value = jax.tree.unflatten(structure, [read[e.name] for e in saved.entries])
            if view.write is not None:
                view.write(value)
            elif isinstance(found.obj.key, tuple):
                owner, name = found.obj.key
                items.setdefault(owner, {})[name] = value
        if items:
            for _, obj in starts:
                _replace_items(obj, items)

    def _set_position(self, found: Match) -> None:
        write = found.obj.view.write
        assert write is not None
        position = decode_position(self._position(found.saved.path))
        try:
            write(position)
        except (ValueError, TypeError, LookupError) as error:
            what = str(error) if isinstance(error, ValueError) else repr(error)
            raise CheckpointError(
                f"The checkpoint {self.path} has a position of {found.obj.path} that does not fit: {what}"
            ) from error

    def _position(self, path: str) -> Mapping[str, Any]:
        """Returns the position that this process saved, or the one that all saved."""
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


def _replace_items(obj: Stateful, items: Mapping[int, Mapping[str, Any]]) -> Stateful:
    """Puts plain values into the containers that hold them; returns the container or its replacement."""
    view = view_of(obj)
    if view is None or view.kind != "node" or adapter_of(view.obj) is not None:
        return obj
    container = view.obj if view.items is None else view.items
    parts = items_of(container) or {}
    own = items.get(id(view.obj), {})
    new = {
        name: own[name] if name in own else _replace_items(part, items)
        for name, part in parts.items()
    }
    if all(new[name] is part for name, part in parts.items()):
        return obj
    replaced = with_items(container, new)
    return replaced if view.items is None else obj
