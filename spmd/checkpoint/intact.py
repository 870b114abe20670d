"""The files of a checkpoint, verified: where they are, or, if they are in an object store, as a copy on this machine's disk.

TensorStore, which reads arrays, needs files. What `verify` has copied is restored then, and not copied again.
"""

import os
import shutil
from dataclasses import dataclass

from spmd.checkpoint.arrays import merge
from spmd.checkpoint.errors import CheckpointError, DamagedCheckpointError
from spmd.checkpoint.in_stores import in_threads, local_name
from spmd.checkpoint.layout import checkpoint_folder
from spmd.checkpoint.manifest import check_file, files_of, missing_file, raw_manifest
from spmd.checkpoint.parts import ARRAYS, MANIFEST
from spmd.checkpoint.staging import StagingFolder
from spmd.cluster import wait_seconds
from spmd.files import StorePath, is_url, plain

_TRIES = 3
_latest: "Copy | None" = None


@dataclass(frozen=True)
class Copy:
    """A verified copy of a checkpoint; deleted when nobody holds it.

    Attributes:
        path: of the checkpoint.
        manifest: its manifest, as it was read.
        staging: where the copy is.
    """

    path: str
    manifest: bytes
    staging: StagingFolder

    @property
    def folder(self) -> str:
        """The copy, which is laid out as a checkpoint that was saved on a disk."""
        return self.staging.path


def verify(path: str) -> None:
    """Compares every file of a checkpoint with what was saved.

    Any process may call it; it does not wait for others.

    Args:
        path: the checkpoint's. From an object store all files are copied, unless they were before.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: a file is missing, too short, or has other contents; the message names it.
        OSError: the store does not answer, or there is no space for the copy.

    Examples:
        >>> import tempfile, spmd.checkpoint
        >>> checkpoint = spmd.checkpoint.Checkpoint(step=3)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
        >>> checkpoint.wait()
        >>> spmd.checkpoint.verify(path)
    """
    if is_read_from_copy(path):
        verified_copy(path)
        return
    folder = checkpoint_folder(path)
    for name, written in files_of(path).items():
        check_file(path, name, os.path.join(folder, name), written)


def is_read_from_copy(path: str) -> bool:
    """Tells whether the files of a checkpoint are in a store, or on a disk, but as they were copied from a store."""
    if is_url(plain(path)):
        return True
    try:
        return any(local_name(name) != name for name in files_of(path))
    except CheckpointError:
        return False  # it is being saved, or whoever reads it says what is wrong


def verified_copy(path: str) -> Copy:
    """Returns a copy of a checkpoint whose files are what was saved; that of the last call, if it is the same checkpoint.

    Any process may call it; it does not wait for others.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: a file is missing, too short, or has other contents; the message names it.
        OSError: the store does not answer, or there is no space for the copy.
    """
    global _latest
    for remaining in reversed(range(_TRIES)):
        manifest, copy = raw_manifest(path), _latest
        if copy is not None and (copy.path, copy.manifest) == (path, manifest):
            return copy
        _latest = copy = None  # frees its space
        try:
            _latest = copy = _copied(path, manifest)
            return copy
        except DamagedCheckpointError:
            # Unless another process has replaced it meanwhile, or is deleting it.
            if not remaining or raw_manifest(path) == manifest:
                raise
    raise AssertionError  # the last attempt returns or raises


def forget_copy() -> None:
    """Frees the space of the copy that the last call made, unless somebody holds it."""
    global _latest
    _latest = None


def _copied(path: str, manifest: bytes) -> Copy:
    source, files = checkpoint_folder(path), files_of(path, manifest)
    copy = Copy(path, manifest, StagingFolder())

    def fetch(name: str) -> None:
        file = os.path.join(copy.folder, local_name(name))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        try:
            if is_url(path):
                StorePath(path).joinpath(name).download(file)
            else:
                shutil.copyfile(os.path.join(source, name), file)
        except FileNotFoundError as error:
            raise missing_file(path, name) from error
        check_file(path, name, file, files[name])

    in_threads(fetch, files, wait_seconds())
    arrays = os.path.join(copy.folder, ARRAYS)
    os.makedirs(arrays, exist_ok=True)
    with open(os.path.join(copy.folder, MANIFEST), "wb") as file:
        file.write(manifest)
    try:
        merge(arrays)
    except (ValueError, OSError) as error:  # of TensorStore
        raise CheckpointError(
            f"The arrays of the checkpoint {path} cannot be read: {error}"
        ) from error
    return copy
