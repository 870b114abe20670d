"""What `restore` returns: assertions about which values found an object, and which objects a value."""

import abc

from spmd.checkpoint.graph import walk
from spmd.checkpoint.manifest import SavedObject
from spmd.checkpoint.matching import match
from spmd.checkpoint.restoring import Restoration
from spmd.typing import Stateful

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
        """Asserts that the checkpoint has a value for at least one of the objects.

        Raises:
            AssertionError: it has none.
        """

    @abc.abstractmethod
    def expect_partial(self) -> "LoadStatus":
        """Suppresses the warning about values of the checkpoint that find no object."""


class RestoreStatus(LoadStatus):
    """The status of a checkpoint that is restored, or waits for objects that do not exist yet.

    Args:
        root: the object that it was restored into.
        restoration: the restoration.
    """

    def __init__(self, root: Stateful, restoration: Restoration) -> None:
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
                "objects are made later, assert it then; if they are not needed, use expect_partial() or "
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
        self._restoration.apply_pending()
        unmatched = self._unmatched_objects()
        if unmatched:
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due "
                f"to changes in the Python program. Showing {min(_SHOWN, len(unmatched))} of {len(unmatched)} "
                f"unmatched objects: {unmatched[:_SHOWN]}"
            )
        return self

    def assert_nontrivial_match(self) -> "RestoreStatus":
        """Asserts that the checkpoint has a value for at least one of the objects.

        Returns:
            The status.

        Raises:
            AssertionError: it has none.
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
        """Suppresses the warning about values of the checkpoint that find no object.

        Returns:
            The status.
        """
        self._restoration.expect_partial = True
        return self

    def _unmatched_objects(self) -> list[str]:
        matched = {found.obj.key for found in match(self._restoration.nodes, 0, self._root)}
        return [
            obj.path
            for obj in walk(self._root)
            if obj.view.kind != "node" and obj.key not in matched
        ]


class NothingToRestore(LoadStatus):
    """The status of `restore(None)`, where there was no checkpoint."""

    def assert_consumed(self) -> "NothingToRestore":
        """Fails: nothing was restored."""
        raise AssertionError(_NOTHING)

    def assert_existing_objects_matched(self) -> "NothingToRestore":
        """Fails: nothing was restored."""
        raise AssertionError(_NOTHING)

    def assert_nontrivial_match(self) -> "NothingToRestore":
        """Fails: nothing was restored."""
        raise AssertionError(_NOTHING)

    def expect_partial(self) -> "NothingToRestore":
        """Returns the status: there is nothing to warn about."""
        return self


_NOTHING = "No checkpoint specified (save_path=None); nothing is being restored."


def _named(node: SavedObject) -> str:
    return "(root)." + node.path.replace("/", ".")


def _described(node: SavedObject) -> str:
    if node.kind == "arrays":
        return ", ".join(map(str, node.entries))
    return repr(node.value) if node.kind == "value" else "a position"


def _list(nodes: list[SavedObject]) -> str:
    shown = ", ".join(node.path for node in nodes[:_SHOWN])
    return shown + (" ..." if len(nodes) > _SHOWN else "")
