"""What `restore` returns: assertions about which values found an object, and which objects a value."""

from spmd.checkpoint.errors import SHOWN
from spmd.checkpoint.graph import walk
from spmd.checkpoint.manifest import SavedObject
from spmd.checkpoint.matching import match
from spmd.checkpoint.restoring import Restoration
from spmd.typing import Stateful


class LoadStatus:
    """Assertions about a restored checkpoint; each one returns the status itself.

    Each assertion fails if `restore(None)` restored nothing.

    Source: what `tf.train.Checkpoint.restore` returns.
    """

    def __init__(self, root: Stateful, restoration: Restoration | None) -> None:
        """Makes the status of a restoration into `root`; None restored nothing."""
        self._root = root
        self._restoration = restoration

    def assert_consumed(self) -> "LoadStatus":
        """Asserts that every value of the checkpoint found its object, and every object a value.

        Raises:
            AssertionError: one did not; the message names it.
        """
        self.assert_existing_objects_matched()
        restoration = self._restored()
        left = restoration.unmatched()
        if left:
            raise AssertionError(
                f"Unresolved object in checkpoint {_named(left[0])}: {_described(left[0])}. {len(left)} value(s) of "
                f"{restoration.path} found no object: {restoration.list_unmatched()}. If their objects are made later, "
                "assert it then; if they are not needed, use expect_partial() or assert_existing_objects_matched()."
            )
        return self

    def assert_existing_objects_matched(self) -> "LoadStatus":
        """Asserts that every object that exists by now found its value.

        Raises:
            AssertionError: one did not; the message names it.
        """
        self._restored().apply_pending()
        unmatched = self._unmatched_objects()
        if unmatched:
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due "
                f"to changes in the Python program. Showing {min(SHOWN, len(unmatched))} of {len(unmatched)} "
                f"unmatched objects: {unmatched[:SHOWN]}"
            )
        return self

    def assert_nontrivial_match(self) -> "LoadStatus":
        """Asserts that the checkpoint has a value for at least one of the objects.

        Raises:
            AssertionError: it has none.
        """
        if len(match(self._restored().nodes, 0, self._root)) > 1:
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

    def expect_partial(self) -> "LoadStatus":
        """Suppresses the warning about values of the checkpoint that find no object."""
        if self._restoration is not None:
            self._restoration.expect_partial = True
        return self

    def _restored(self) -> Restoration:
        if self._restoration is None:
            raise AssertionError(
                "No checkpoint specified (save_path=None); nothing is being restored."
            )
        return self._restoration

    def _unmatched_objects(self) -> list[str]:
        matched = {found.obj.key for found in match(self._restored().nodes, 0, self._root)}
        return [
            obj.path
            for obj in walk(self._root)
            if obj.view.kind != "node" and obj.key not in matched
        ]


def _named(node: SavedObject) -> str:
    return "(root)." + node.path.replace("/", ".")


def _described(node: SavedObject) -> str:
    if node.kind == "arrays":
        return ", ".join(map(str, node.entries))
    return repr(node.value) if node.kind == "value" else "a position"
