"""`Checkpoint`: objects that are saved and restored together."""

from collections.abc import Callable, Mapping
from typing import Any

import jax

from spmd.checkpoint.agreement import fail_together
from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.graph import track
from spmd.checkpoint.intact import Copy, is_read_from_copy, verified_copy, verify
from spmd.checkpoint.layout import check_path
from spmd.checkpoint.manifest import read_manifest
from spmd.checkpoint.restoring import Restoration
from spmd.checkpoint.saving import Save, wait_for_saves
from spmd.checkpoint.selection import path_of_first
from spmd.checkpoint.snapshot import take_snapshot
from spmd.checkpoint.status import LoadStatus
from spmd.checkpoint.view import View, register_view, view_of
from spmd.cluster import all_gather_small, wait_seconds
from spmd.errors import StateError
from spmd.files import absolute
from spmd.replica import current_frame
from spmd.state import Searched, apply_pending
from spmd.typing import Stateful, StrPath


class Checkpoint(Searched):
    """Objects that are saved and restored together, each under a name.

    It may hold modules, optimizers, metrics and random streams of Flax NNX and Keras, `spmd.Variable`,
    arrays, numbers and strings, lists, dicts and other pytrees of these, iterators that know their position
    (`HasPosition`), and other checkpoints. Its attributes are these objects; more can be set later. Arrays and
    numbers are restored as the attribute: read `checkpoint.step` afterwards.

    Examples:
        >>> import tempfile, jax.numpy as jnp, spmd
        >>> from spmd.checkpoint import Checkpoint
        >>> count = spmd.Variable(jnp.int32(3))
        >>> checkpoint = Checkpoint(count=count, params={"w": jnp.ones(2)}, epoch=1)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/first")
        >>> checkpoint.wait()
        >>> count.value, checkpoint.epoch = jnp.int32(0), 0
        >>> _ = checkpoint.restore(path).assert_consumed()
        >>> int(count.value), checkpoint.epoch
        (3, 1)

    Source: `tf.train.Checkpoint`.
    """

    _own = frozenset({"_objects", "_root", "_timeout", "_save", "_restoration"})

    def __init__(
        self, root: Stateful = None, *, timeout: float | None = None, **objects: Stateful
    ) -> None:
        """Names the objects.

        Args:
            root: an object whose parts are saved under their own names, beside the others.
            timeout: seconds that a process waits for the others, when it saves or restores; None is a minute more
                than the watchdog waits.
            objects: what to save and restore, by name.

        Raises:
            CheckpointError: one of the objects cannot be saved.
        """
        self._objects: dict[str, Any] = {}
        self._root = root
        self._timeout = timeout
        self._save: Save | None = None
        self._restoration: Restoration | None = None
        for name, obj in objects.items():
            setattr(self, name, obj)

    @property
    def timeout(self) -> float:
        """Seconds that a process waits for the others."""
        # Read at each use: the cluster may be joined after the checkpoint was made, and its watchdog decides.
        return wait_seconds() if self._timeout is None else self._timeout

    def __setattr__(self, name: str, value: Stateful) -> None:
        if name in self._own:
            object.__setattr__(self, name, value)
            return
        if hasattr(Checkpoint, name):
            raise CheckpointError(
                f"A checkpoint has a member {name!r} of its own. Give the object another name."
            )
        track(value, name, None)
        self._objects[name] = value
        if self._restoration is not None:
            self._restoration.apply_pending()

    def __getattr__(self, name: str) -> Any:
        objects = self.__dict__.get("_objects", {})
        if name in objects:
            return objects[name]
        raise AttributeError(
            f"The checkpoint has no {name!r}; it has {', '.join(map(repr, objects)) or 'nothing'}. Add it: "
            f"Checkpoint({name}=...)."
        )

    def __delattr__(self, name: str) -> None:
        del self._objects[name]

    def save(
        self,
        path: StrPath,
        *,
        notes: Mapping[str, Any] | None = None,
        done: Callable[[], None] | None = None,
    ) -> str:
        """Saves all objects as they are now; all processes must call it.

        Blocks until the state may change again: an earlier save is finished, and arrays are copied to host
        memory. A thread writes them, and gives the checkpoint its name at the end; `wait` waits for that.

        Args:
            path: the folder to make, or its URL in an object store; a checkpoint there is replaced when the new one is
                complete. The path of process 0 decides.
            notes: what else to record in the manifest; JSON can hold it.
            done: called when the checkpoint is complete, by a thread of process 0.

        Returns:
            The path, the same in all processes.

        Raises:
            CheckpointError: an object cannot be saved, or is not the same in all processes.
            SaveError: a file cannot be written; raised by `wait`, or here.
            ImportError: what writes to the URL is not installed.
            StateError: called while a step is traced.
            ClusterWaitError: a process does not save; the message names it.
        """
        path = absolute(check_path(path))
        _check_between_steps("saved")
        apply_pending()
        self.wait()
        self._save = Save(path, take_snapshot(self), notes or {}, self.timeout, done)
        return self._save.path

    def wait(self) -> None:
        """Waits until the checkpoint is on disk.

        Raises:
            BaseException: what went wrong while it was written.
        """
        if self._save is not None:
            save, self._save = self._save, None
            save.wait()

    def restore(self, path: StrPath | None, *, checked: bool = False) -> LoadStatus:
        """Restores the values of all objects; all processes must call it, and it blocks.

        Every file is verified first. Arrays are read onto the devices of those that they replace, however many
        devices saved them. Variables that do not exist yet (of a Keras model that is not built) get their values
        when they are made.

        Args:
            path: what `save` returned; None restores nothing. If processes name several, that of process 0 is used.
            checked: whether process 0 has just verified the files, as `newest_intact` does.

        Returns:
            Which objects found values, and which values objects.

        Raises:
            CheckpointNotFoundError: there is no checkpoint.
            DamagedCheckpointError: a file of it is damaged.
            CheckpointError: shapes or dtypes do not match; the message lists them.
            StateError: called while a step is traced.
            ClusterWaitError: a process does not restore; the message names it.
        """
        path = "" if path is None else absolute(check_path(path))
        _check_between_steps("restored")
        self.wait()
        wait_for_saves()
        path = path_of_first(all_gather_small("checkpoint/restore", path, self.timeout))
        if not path:
            return LoadStatus(self, None)
        copy = _check_files(path, self.timeout, checked=checked)
        restoration = Restoration(path, self.timeout, copy)
        if self._restoration is not None:
            self._restoration.cancel()
        restoration.start(self)
        self._restoration = restoration
        return LoadStatus(self, restoration)

    def view(self) -> View:
        """Returns what a checkpoint sees of this one: its objects, and the parts of its root."""
        children = dict(self._objects)
        if self._root is not None:
            root = view_of(self._root)
            if root is None or root.kind != "node":
                raise CheckpointError(
                    f"The root of a checkpoint must have named parts, and a {type(self._root).__name__} has none. "
                    "Give it a name: Checkpoint(value=...)."
                )
            children = {**root.children, **children}
        return View(self, "node", children, grows=True, items=self._objects)


register_view(Checkpoint, Checkpoint.view)


def _check_between_steps(verb: str) -> None:
    if current_frame() is not None:
        raise StateError(
            f"A checkpoint cannot be {verb} in a step: there are no values while it is traced. Do it between steps."
        )


def _check_files(path: str, timeout: float, *, checked: bool) -> Copy | None:
    """Lets process 0 verify the files and the others look for them; all raise an error if any of them does.

    Returns:
        The copy that this process is to read; None if it reads the files where they are.
    """
    failure: Exception | None = None
    copy = None
    try:
        if is_read_from_copy(path):
            copy = verified_copy(path)  # each process needs one
        elif jax.process_index() == 0 and not checked:
            verify(path)
        else:
            read_manifest(path)
    except (CheckpointError, OSError, TimeoutError) as error:
        failure = error
    is_damage = (
        failure is None or not isinstance(failure, OSError) or isinstance(failure, CheckpointError)
    )
    fail_together("checkpoint/files", failure, timeout, is_damage=is_damage)
    return copy
