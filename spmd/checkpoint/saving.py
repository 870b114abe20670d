"""Saving while training goes on: the caller waits for copies of the arrays, and a thread writes them.

A script that ends waits for its saves, and fails if one of them failed.
"""

import atexit
import json
import os
import sys
import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import jax

from spmd.checkpoint import arrays, in_stores, layout, manifest
from spmd.checkpoint.destination import destination
from spmd.checkpoint.errors import (
    CheckpointError,
    SaveError,
    first_lines,
    in_a_sentence,
    is_about_files,
)
from spmd.checkpoint.selection import path_of_first
from spmd.checkpoint.snapshot import Snapshot, fingerprints
from spmd.cluster import all_gather_small, current_health
from spmd.files import StorePath, before_threads_end, is_url, plain

_FIRST = 0

# Writing starts threads until the end, and when a script ends these Pythons start none: python/cpython#113964.
_ENDS_EARLY = (3, 12) <= sys.version_info < (3, 12, 3)

_running: "Save | None" = None
# Those whose error has not been raised yet.
_failed: list["Save"] = []


class Save:
    """A checkpoint that is being written. One at a time: a new one waits for the one before.

    Attributes:
        path: where it will be.
        error: what went wrong, until `wait` raises it.
    """

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
            path: where the checkpoint will be; that of process 0 is used.
            snapshot: what to write.
            notes: for the manifest.
            timeout: seconds that a process waits for the others.
            done: called by process 0 when the checkpoint is complete.

        Raises:
            CheckpointError: the processes do not save the same.
            ClusterWaitError: a process does not save.
        """
        global _running
        wait_for_saves()
        self._timeout = timeout
        self.error: BaseException | None = None
        objects = fingerprints(snapshot.nodes)
        checksum = zlib.crc32(json.dumps(objects, sort_keys=True).encode())
        own = {
            "path": path,
            "positions": snapshot.positions,
            "objects": checksum,
            "attempt": in_stores.new_attempt(),
        }
        texts = all_gather_small("checkpoint/save", json.dumps(own), timeout)
        messages = [json.loads(text) for text in texts]
        self.path = path = path_of_first([each["path"] for each in messages])
        if len({each["objects"] for each in messages}) > 1:
            _raise_differences(path, objects, timeout)
        positions = [each["positions"] for each in messages]
        self._manifest = manifest.Manifest(snapshot.nodes, positions, notes)
        self._done = done
        self._copied = threading.Event()
        self._destination = destination(path, messages[0]["attempt"], timeout)
        folders: list[str] = []
        self._agree("begun", self._attempt(lambda: folders.append(self._destination.begin())))
        # Only the thread holds the writer, and with it a copy of the state.
        made: list[arrays.ArrayWriter] = []
        failure = self._attempt(
            lambda: made.append(arrays.ArrayWriter(folders[0], snapshot.arrays))
        )
        self._thread = threading.Thread(
            target=self._finish, args=[made, failure], name="spmd-checkpoint"
        )
        _running = self
        before_threads_end(_report_errors_at_exit)
        self._thread.start()
        if _ENDS_EARLY:
            self._thread.join()
        elif len(texts) > 1:
            self._copied.wait()

    def _finish(self, made: list[arrays.ArrayWriter], failure: BaseException | None) -> None:
        try:
            failure = failure or self._attempt(lambda: made[0].copy())
            self._copied.set()
            self._agree("written", failure or self._attempt(lambda: self._write(made[0])))
            # No process continues before the checkpoint is complete.
            complete = self._destination.complete
            self._agree("saved", self._attempt(lambda: complete(made[0], self._manifest)))
            self._agree("recorded", self._attempt(self._record), "is complete, but not recorded")
        except BaseException as error:  # raised by wait(), where somebody sees it
            self.error = error
            _failed.append(self)
        finally:
            self._copied.set()

    @property
    def _is_first(self) -> bool:
        return jax.process_index() == _FIRST

    def _write(self, writer: arrays.ArrayWriter) -> None:
        writer.write(self._timeout)
        self._destination.put(writer)

    def _record(self) -> None:
        if health := current_health():
            health.saved()
        if self._is_first and self._done is not None:
            self._done()

    def _attempt(self, act: Callable[[], object]) -> BaseException | None:
        """Does a part of the save; returns what went wrong, for `_agree`."""
        try:
            act()
        except BaseException as error:
            return error
        return None

    def _agree(
        self, what: str, failure: BaseException | None, outcome: str = "was not saved"
    ) -> None:
        """Tells all processes what went wrong in any of them; all raise an error if one does."""
        told = "" if failure is None else in_a_sentence(failure)
        answers = all_gather_small(f"checkpoint/{what}", told, self._timeout)
        if not any(answers):
            return
        self._destination.abandon()
        if failure is not None and not is_about_files(failure):
            raise failure
        process, reason = next((who, text) for who, text in enumerate(answers) if text)
        who = (
            f"process {process} could not write it"
            if len(answers) > 1
            else "it could not be written"
        )
        message = f"The checkpoint {self.path} {outcome}, because {who}: {reason}"
        raise SaveError(message) from None

    def join(self) -> None:
        """Waits until the checkpoint is complete or has failed; raises nothing."""
        global _running
        if self._thread is threading.current_thread():
            return  # `done` may ask for checkpoints
        self._thread.join()
        if _running is self:
            _running = None

    def wait(self) -> None:
        """Waits until the checkpoint is complete.

        Raises:
            BaseException: what went wrong.
        """
        self.join()
        if self.error is not None:
            _failed.remove(self)
            error, self.error = self.error, None
            raise error


def wait_for_saves() -> None:
    """Blocks until no checkpoint is being written by this process; errors are raised where `save` was called."""
    if _running is not None:
        _running.join()


def remove_leftovers(directory: str) -> None:
    """Deletes what killed saves left in a folder; all processes may call it, and process 0 does it."""
    if jax.process_index() == _FIRST:
        wait_for_saves()  # another manager of the folder may be saving
        directory = plain(directory)
        if is_url(directory):
            in_stores.delete_leftovers(StorePath(directory), manifest.attempts_of)
        else:
            layout.delete_leftovers(directory)


def _raise_differences(path: str, objects: Mapping[str, str], timeout: float) -> NoReturn:
    """Names the objects that differ between processes; all of them call it."""
    texts = all_gather_small("checkpoint/objects", json.dumps(objects), timeout)
    first, *others = (json.loads(text) for text in texts)
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
    raise CheckpointError(
        f"The processes do not save the same objects as {path}:\n"
        + first_lines(found)
        + "\nA checkpoint keeps what all processes have in common: make these the same in all, or leave them out "
        "of the Checkpoint. What differs between processes can be the position of an object with get_state() and "
        "set_state()."
    )


def _report_errors_at_exit() -> None:
    wait_for_saves()
    for save in _failed:  # nobody waited for these
        if (error := save.error) is not None:
            sys.excepthook(type(error), error, error.__traceback__)


def _fail_at_exit() -> None:
    if _failed:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


atexit.register(_fail_at_exit)
