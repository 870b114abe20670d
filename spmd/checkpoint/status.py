"""What `restore` tells: which values have found an object, and which objects a value."""

import abc
from typing import Any

from spmd.checkpoint.graph import Saved, match, walk
from spmd.checkpoint.restoring import Restoration

_SHOWN = 10


class LoadStatus(abc.ABC):
    """Assertions about a restored checkpoint; each one returns the status itself.

    Source: what `tf.train.Checkpoint.restore` returns.
    """

    @abc.abstractmethod
    def assert_consumed(self) -> "LoadStatus":
        """Asserts that every value of the checkpoint found its object, and every object a value.

        Raises:
            AssertionError: one did not; the message names it.
        """

    @abc.abstractmethod
    def assert_existing_objects_matched(self) -> "LoadStatus":
        """Asserts that every object that exists by now found its value.

        Raises:
            AssertionError: one did not; the message names it.
        """

    @abc.abstractmethod
    def assert_nontrivial_match(self) -> "LoadStatus":
        """Asserts that the checkpoint has anything at all of the objects.

        Raises:
            AssertionError: it has nothing.
        """

    @abc.abstractmethod
    def expect_partial(self) -> "LoadStatus":
        """Keeps quiet about values of the checkpoint that find no object."""


class RestoreStatus(LoadStatus):
    """The status of a checkpoint that is restored, or waits for objects that do not exist yet."""

    def __init__(self, root: Any, restoration: Restoration) -> None:
        """Takes what was restored.

        Args:
            root: the object that it was restored into.
            restoration: the restoration.
        """
        self._root = root
        self._restoration = restoration

    def assert_consumed(self) -> "RestoreStatus":
        """Asserts that every value of the checkpoint found its object, and every object a value.

        Returns:
            The status.

        Raises:
            AssertionError: one did not; the message names it.
        """
        self.assert_existing_objects_matched()
        left = self._restoration.unmatched()
        if left:
            raise AssertionError(
                f"Unresolved object in checkpoint {_named(left[0])}: {_described(left[0])}. "
                f"{len(left)} value(s) of {self._restoration.path} found no object: {_list(left)}. If their "
                "objects are made later, assert it then; if they are not wanted, use expect_partial() or "
                "assert_existing_objects_matched()."
            )
        return self

    def assert_existing_objects_matched(self) -> "RestoreStatus":
        """Asserts that every object that exists by now found its value.

        Returns:
            The status.

        Raises:
            AssertionError: one did not; the message names it.
        """
        self._restoration.settle()
        unmatched = self._unmatched_objects()
        if unmatched:
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due "
                f"to changes in the Python program. Showing {min(_SHOWN, len(unmatched))} of {len(unmatched)} "
                f"unmatched objects: {unmatched[:_SHOWN]}"
            )
        return self

    def assert_nontrivial_match(self) -> "RestoreStatus":
        """Asserts that the checkpoint has anything at all of the objects.

        Returns:
            The status.

        Raises:
            AssertionError: it has nothing.
        """
        if len(match(self._restoration.nodes, 0, self._root)) > 1:
            return self
        unmatched = self._unmatched_objects()
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the "
                "checkpoint does not match the Python program. The following objects have no matching "
                f"checkpointed value: {unmatched}"
            )
        raise AssertionError(
            f"Nothing to load. No dependencies have been added to {self._root!r} yet."
        )

    def expect_partial(self) -> "RestoreStatus":
        """Keeps quiet about values of the checkpoint that find no object.

        Returns:
            The status.
        """
        self._restoration.expect_partial = True
        return self

    def _unmatched_objects(self) -> list[str]:
        matched = {pair.found.key for pair in match(self._restoration.nodes, 0, self._root)}
        return [
            found.path
            for found in walk(self._root)
            if found.view.kind != "node" and found.key not in matched
        ]


class NothingToRestore(LoadStatus):
    """The status where there was no checkpoint to restore: `restore(None)`."""

    def assert_consumed(self) -> "NothingToRestore":
        """Fails, as nothing was restored."""
        raise AssertionError(_NOTHING)

    def assert_existing_objects_matched(self) -> "NothingToRestore":
        """Fails, as nothing was restored."""
        raise AssertionError(_NOTHING)

    def assert_nontrivial_match(self) -> "NothingToRestore":
        """Fails, as nothing was restored."""
        raise AssertionError(_NOTHING)

    def expect_partial(self) -> "NothingToRestore":
        """Returns the status: there is nothing to warn of."""
        return self


_NOTHING = "No checkpoint specified (save_path=None); nothing is being restored."


def _named(node: Saved) -> str:
    return "(root)." + node.path.replace("/", ".")


def _described(node: Saved) -> str:
    if node.kind == "arrays":
        return ", ".join(map(str, node.entries))
    return repr(node.value) if node.kind == "value" else "a position"


def _list(nodes: list[Saved]) -> str:
    shown = ", ".join(node.path for node in nodes[:_SHOWN])
    return shown + (" ..." if len(nodes) > _SHOWN else "")
