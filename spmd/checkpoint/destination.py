"""Where a save writes: into a folder that all processes share, or into an object store."""

import contextlib
import json
import os
import shutil
import threading
from collections.abc import Callable
from typing import Protocol

import jax

from spmd.checkpoint import in_stores, layout
from spmd.checkpoint.arrays import ArrayWriter
from spmd.checkpoint.intact import forget_copy
from spmd.checkpoint.manifest import Manifest, fingerprints_of, manifest_text, write_manifest
from spmd.checkpoint.parts import ARRAYS
from spmd.checkpoint.staging import StagingFolder
from spmd.cluster import all_gather_small
from spmd.files import StorePath, is_url


class Destination(Protocol):
    """What a save does in one process; `begin`, `put` and `complete` are called in all, which agree after each."""

    def begin(self) -> str:
        """Makes an empty folder for arrays, and returns it; another process may be the one that makes it."""
        ...

    def put(self, writer: ArrayWriter) -> None:
        """Makes what this process has written safe."""
        ...

    def complete(self, writer: ArrayWriter, manifest: Manifest) -> None:
        """Gives the checkpoint its name, once all processes have put what they wrote."""
        ...

    def abandon(self) -> None:
        """Deletes what was written; raises nothing, and waits for nothing but a disk."""
        ...


class OnDisk:
    """A folder of a file system that all processes share, which is renamed at the end."""

    def __init__(self, path: str) -> None:
        """Names the checkpoint."""
        self._path = path

    def begin(self) -> str:
        if _is_first():
            layout.make_saving_folder(self._path)
        return os.path.join(layout.saving_folder(self._path), ARRAYS)

    def put(self, writer: ArrayWriter) -> None:
        pass

    def complete(self, writer: ArrayWriter, manifest: Manifest) -> None:
        if _is_first():
            writer.merge()
            write_manifest(layout.saving_folder(self._path), manifest)
            layout.publish(self._path)

    def abandon(self) -> None:
        if _is_first():  # its space may be needed by the next
            shutil.rmtree(layout.saving_folder(self._path), ignore_errors=True)


class InStore:
    """An object store: each process writes into a folder of its own machine, and puts its files there."""

    def __init__(self, path: str, attempt: str, timeout: float) -> None:
        """Names the checkpoint.

        Args:
            path: its URL.
            attempt: a name that no other save has, the same in all processes.
            timeout: seconds that putting files there, and waiting for other processes, may take.
        """
        self._checkpoint, self._attempt, self._timeout = StorePath(path), attempt, timeout
        self._staging: StagingFolder | None = None
        self._files: dict[str, list[int]] = {}
        # Whether the store may have the manifest, even if it did not say so: then it may name the files.
        self._may_be_published = False

    def begin(self) -> str:
        if _is_first():
            in_stores.check_replaceable(self._checkpoint)
        forget_copy()  # a newer checkpoint comes, and its space is needed
        self._staging = StagingFolder()
        arrays = os.path.join(self._staging.path, ARRAYS)
        os.mkdir(arrays)
        return arrays

    def put(self, writer: ArrayWriter) -> None:
        assert self._staging is not None
        if jax.process_count() == 1:
            # What several processes write is merged where it is read: no process has the files of others here.
            writer.merge()
        self._files = fingerprints_of(self._staging.path)
        in_stores.upload(
            self._staging.path, self._files, self._checkpoint / self._attempt, self._timeout
        )

    def complete(self, writer: ArrayWriter, manifest: Manifest) -> None:
        texts = all_gather_small("checkpoint/put", json.dumps(self._files), self._timeout)
        if _is_first():
            files = {name: file for text in texts for name, file in json.loads(text).items()}
            sizes = {name: size for name, (size, _) in files.items()}
            in_stores.check_uploaded(self._checkpoint / self._attempt, sizes)
            named = {f"{self._attempt}/{name}": file for name, file in files.items()}
            self._may_be_published = True
            in_stores.publish(self._checkpoint, manifest_text(manifest, named), self._attempt)
        self._end()

    def abandon(self) -> None:
        self._end()
        if _is_first() and not self._may_be_published:
            # A store that does not answer delays nobody: what is left there, the next manager deletes.
            delete = (self._checkpoint / self._attempt).rmtree
            with contextlib.suppress(RuntimeError):  # the script is ending
                threading.Thread(target=_quietly, args=(delete,), daemon=True).start()

    def _end(self) -> None:
        if self._staging is not None:
            self._staging.delete()


def destination(path: str, attempt: str, timeout: float) -> Destination:
    """Returns where a checkpoint with this path is saved; see `InStore`."""
    return InStore(path, attempt, timeout) if is_url(path) else OnDisk(path)


def _is_first() -> bool:
    return jax.process_index() == 0


def _quietly(act: Callable[[], None]) -> None:
    with contextlib.suppress(OSError):
        act()
