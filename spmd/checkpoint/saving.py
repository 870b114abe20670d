"""Saving while training goes on: what the caller waits for, and what a thread does afterwards.

A script that ends has saved, and has failed if that failed. Internal to Python, and used here:
`threading._register_atexit`. Nothing else runs before the threads' pools close, which Orbax needs until the end.
"""

import atexit
import importlib
import json
import os
import sys
import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn

import jax

from spmd.checkpoint import arrays, manifest
from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.graph import Snapshot, fingerprints
from spmd.checkpoint.selection import path_of_first
from spmd.cluster import all_gather_small

_FIRST = 0
_SHOWN = 10


class Save:
    """A checkpoint that is being written. One at a time: a new one waits for the one before.

    Attributes:
        path: where it will be.
    """

    _running: "Save | None" = None
    # Whose error nobody has seen yet.
    _failed: ClassVar[list["Save"]] = []

    def __init__(
        self,
        path: str,
        snapshot: Snapshot,
        notes: Mapping[str, Any],
        timeout: float,
        done: Callable[[], None] | None,
    ) -> None:
        """Begins to write. All processes must call it; it blocks until the state may change.

        Args:
            path: where the checkpoint will be; that of the first process counts.
            snapshot: what to write.
            notes: what else the manifest is to say.
            timeout: seconds that one process waits for the others.
            done: called by the first process when the checkpoint is there.

        Raises:
            CheckpointError: the processes were not asked to save the same.
            ClusterWaitError: a process does not save.
        """
        Save.settle()
        self._timeout = timeout
        self._error: BaseException | None = None
        objects = fingerprints(snapshot.nodes)
        told = json.dumps(
            {
                "path": path,
                "positions": snapshot.positions,
                "objects": zlib.crc32(json.dumps(objects, sort_keys=True).encode()),
            }
        )
        told_by_all = [
            json.loads(text) for text in all_gather_small("checkpoint/save", told, timeout)
        ]
        self.path = path = path_of_first([other["path"] for other in told_by_all])
        if len({other["objects"] for other in told_by_all}) > 1:
            _raise_differences(path, objects, timeout)
        self._manifest = manifest.Manifest(
            snapshot.nodes, [other["positions"] for other in told_by_all], notes
        )
        self._done = done
        if jax.process_index() == _FIRST:
            manifest.prepare(path)
        folder = os.path.join(manifest.saving_path(path), manifest.ARRAYS)
        # The thread alone holds what writes, and with it a copy of the state.
        write = arrays.write(folder, snapshot.arrays, timeout)
        self._thread = threading.Thread(target=self._finish, args=[write], name="spmd-checkpoint")
        Save._running = self
        self._thread.start()

    def _finish(self, write: Callable[[], None]) -> None:
        failure = ""
        try:
            write()
            if jax.process_index() == _FIRST:
                manifest.commit(self.path, self._manifest)
                if self._done is not None:
                    self._done()
        except BaseException as error:  # whatever it is, wait() raises it where somebody sees it
            self._error = error
            failure = f"{type(error).__name__}: {error}"
        try:
            # Nobody goes on before the checkpoint is there.
            first = all_gather_small("checkpoint/saved", failure, self._timeout)[_FIRST]
            if first and self._error is None:
                self._error = CheckpointError(f"Process 0 could not save {self.path}: {first}")
        except BaseException as error:
            self._error = self._error or error
        if self._error is not None:
            Save._failed.append(self)

    def join(self) -> None:
        """Waits until the checkpoint is there; raises nothing."""
        if self._thread is threading.current_thread():
            return  # what it calls at the end may ask for checkpoints
        self._thread.join()
        if Save._running is self:
            Save._running = None

    def wait(self) -> None:
        """Waits until the checkpoint is there.

        Raises:
            BaseException: what went wrong.
        """
        self.join()
        if self._error is not None:
            Save._failed.remove(self)
            error, self._error = self._error, None
            raise error

    @staticmethod
    def settle() -> None:
        """Waits until no checkpoint is being written; what went wrong is left to the one who saves."""
        if Save._running is not None:
            Save._running.join()

    @staticmethod
    def finish() -> None:
        """Waits until no checkpoint is being written, and tells of errors that nobody has seen."""
        Save.settle()
        for save in Save._failed:
            if (error := save._error) is not None:
                sys.excepthook(type(error), error, error.__traceback__)

    @staticmethod
    def exit() -> None:
        """Ends the process with an error code if there was such an error."""
        if Save._failed:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)


def clear(directory: str) -> None:
    """Removes what saves that were killed left in a folder; all processes may call it, and the first does it.

    Args:
        directory: where checkpoints are.
    """
    if jax.process_index() == _FIRST:
        Save.settle()  # what another manager of the folder is writing is no leftover
        manifest.remove_leftovers(directory)


def _raise_differences(path: str, objects: Mapping[str, str], timeout: float) -> NoReturn:
    """Tells what the processes would save that is not the same; all of them call it."""
    told = all_gather_small("checkpoint/objects", json.dumps(objects), timeout)
    first, *others = (json.loads(text) for text in told)
    found = [
        f"  {name}: "
        + (
            f"only process {0 if name in first else process} has it"
            if (name in first) != (name in other)
            else f"it is not the same in process 0 and process {process}"
        )
        for process, other in enumerate(others, 1)
        for name in sorted({*first, *other})
        if first.get(name) != other.get(name)
    ]
    more = [f"  and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    raise CheckpointError(
        f"The processes do not save the same as {path}:\n"
        + "\n".join([*found[:_SHOWN], *more])
        + "\nA checkpoint keeps what all processes have in common: make these the same in all, or leave them out "
        "of the Checkpoint. What each process has of its own can be the position of an object with get_state() and "
        "set_state()."
    )


# That module registers the end of pools; what is registered later runs before.
importlib.import_module("concurrent.futures.thread")
threading._register_atexit(Save.finish)  # type: ignore[attr-defined]
atexit.register(Save.exit)
