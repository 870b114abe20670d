"""The folders of a checkpoint: a save becomes visible when it is complete, by a rename.

In an object store it does by its manifest, see `in_stores`; on a disk a checkpoint is written into a folder beside its path, `ckpt-3.saving`, and renamed when it is complete. So a folder
with the final name is complete, whenever a process was killed. A checkpoint that is overwritten is `ckpt-3.replaced`
until the new one has the name, and still counts if the process is killed between the two renames.
"""

import contextlib
import os
import re
import shutil

from spmd.checkpoint import in_stores
from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.parts import ARRAYS, MANIFEST, MARK
from spmd.files import StorePath, is_url, plain
from spmd.typing import StrPath

_SAVING = ".saving"
_REPLACED = ".replaced"


def check_path(path: StrPath) -> str:
    """Returns a path as a text, a URL without slashes at its end.

    Raises:
        CheckpointError: it has lost a slash; or there is no such kind of URL.
        ImportError: what reads and writes the URL is not installed.
        OSError: there are no credentials for it.

    Examples:
        >>> check_path("runs/1"), check_path("memory://bucket/runs/1/")
        ('runs/1', 'memory://bucket/runs/1')
        >>> check_path("gs:/bucket/runs/1")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        spmd.checkpoint.errors.CheckpointError: Expected a folder or a URL, got gs:/bucket/runs/1: pathlib.Path takes ...
    """
    try:
        text = plain(path)
        if is_url(text):
            StorePath(text).check()
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    return text


def checkpoint_folder(path: str) -> str:
    """Returns the folder that holds a checkpoint.

    It is the checkpoint's path, unless the save that was to overwrite it was killed between two renames.
    """
    path = plain(path)
    if is_url(path):
        return path
    replaced = path + _REPLACED
    return replaced if not os.path.isdir(path) and os.path.isdir(replaced) else path


def saving_folder(path: str) -> str:
    """Returns the folder that a checkpoint is first written into."""
    return path + _SAVING


def is_checkpoint(path: str) -> bool:
    """Tells whether a folder is a checkpoint that was saved completely; `verify` tells whether it is still intact."""
    path = plain(path)
    if is_url(path):
        return in_stores.is_complete(StorePath(path))
    if path.endswith((_SAVING, _REPLACED)):
        return False
    return os.path.isfile(os.path.join(checkpoint_folder(path), MANIFEST))


def numbered_checkpoints(directory: str, name: str) -> dict[int, str]:
    """Lists the complete checkpoints `<name>-<number>` of a folder.

    Returns:
        Their paths by number, lowest first.
    """
    pattern = re.compile(re.escape(name) + r"-(\d+)")
    directory = plain(directory)
    if is_url(directory):
        entries = in_stores.entries_of(StorePath(directory))
        numbered = [entry for entry in entries if pattern.fullmatch(entry.name)]
        paths = [each.url for each in in_stores.complete_ones(numbered)]
        return dict(sorted((int(path.rpartition("-")[2]), path) for path in paths))
    if not os.path.isdir(directory):
        return {}
    entries = {entry.removesuffix(_REPLACED) for entry in os.listdir(directory)}
    found = [(pattern.fullmatch(entry), os.path.join(directory, entry)) for entry in entries]
    checkpoints = {int(hit[1]): path for hit, path in found if hit and is_checkpoint(path)}
    return dict(sorted(checkpoints.items()))


def saved_at(path: str) -> float:
    """Tells when a complete checkpoint was saved, in seconds since 1970; 0 if it is being deleted."""
    path = plain(path)
    try:
        if is_url(path):
            return StorePath(path).joinpath(MANIFEST).stat().mtime
        return os.path.getmtime(os.path.join(checkpoint_folder(path), MANIFEST))
    except FileNotFoundError:
        return 0.0


def make_saving_folder(path: str) -> None:
    """Makes an empty folder to write a checkpoint into, and one in it for arrays. One process calls it.

    Raises:
        CheckpointError: the path is that of something else, which the checkpoint would replace.
    """
    if os.path.lexists(path) and not _may_be_replaced(path):
        raise CheckpointError(
            f"Expected a new folder or a checkpoint, but {path} is neither: a checkpoint with this name would replace it. "
            f"Save into it, under a name: {os.path.join(path, 'ckpt')}"
        )
    shutil.rmtree(saving_folder(path), ignore_errors=True)
    os.makedirs(os.path.join(saving_folder(path), ARRAYS))


def _may_be_replaced(path: str) -> bool:
    names = os.listdir(path) if os.path.isdir(path) else [""]
    if not names or ARRAYS in names:  # of a damaged checkpoint, too
        return True
    with contextlib.suppress(OSError), open(os.path.join(path, MANIFEST), "rb") as file:
        return MARK in file.read()
    return False


def publish(path: str) -> None:
    """Gives a checkpoint that was written completely its name. One process calls it."""
    if os.path.lexists(path):
        shutil.rmtree(path + _REPLACED, ignore_errors=True)
        os.rename(path, path + _REPLACED)
    os.rename(saving_folder(path), path)
    shutil.rmtree(path + _REPLACED, ignore_errors=True)
    _sync_folder(os.path.dirname(path))


def remove_checkpoint(path: str) -> None:
    """Deletes a checkpoint. One process calls it; if that is killed meanwhile, no half of a checkpoint is left."""
    path = plain(path)
    if is_url(path):
        in_stores.remove(StorePath(path))
        return
    if os.path.isdir(path):
        # Otherwise the checkpoint that it replaced would come back.
        shutil.rmtree(path + _REPLACED, ignore_errors=True)
    folder = checkpoint_folder(path)
    if os.path.isdir(folder):
        shutil.rmtree(saving_folder(path), ignore_errors=True)
        os.rename(folder, saving_folder(path))
        shutil.rmtree(saving_folder(path))


def delete_leftovers(directory: str) -> None:
    """Deletes what saves that were killed left behind. One process calls it, while nothing is being saved."""
    for name in os.listdir(directory) if os.path.isdir(directory) else ():
        path = os.path.join(directory, name)
        if name.endswith(_REPLACED) and not os.path.exists(path.removesuffix(_REPLACED)):
            # Killed between the two renames: the old checkpoint is the only one.
            os.rename(path, path.removesuffix(_REPLACED))
        elif name.endswith((_SAVING, _REPLACED)) and os.path.isdir(path):
            shutil.rmtree(path)


def _sync_folder(folder: str) -> None:
    # The rename itself has to reach the disk, too.
    descriptor = os.open(folder or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
