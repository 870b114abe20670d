"""Checkpoints in object stores, which put one file at a time, whole or not at all, and rename nothing.

Each attempt to save puts its files into a folder of its own in that of the checkpoint, `ckpt-3/jaxtribute-0a1b...`, and at last
the manifest, which names them: `ckpt-3/manifest.json`. So whenever a process was killed, there is either no manifest, and
no checkpoint, or one whose files are there. A checkpoint that is saved again counts until the new manifest is there.
"""

import collections
import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.parts import ARRAYS, DATA, MANIFEST, MARK
from spmd.cluster import wait_seconds
from spmd.files import StoreError, StorePath

_THREADS = 8
_ATTEMPT = re.compile(re.escape(DATA) + r"[0-9a-f]{16}")
_Item = TypeVar("_Item")


def new_attempt() -> str:
    """Returns a name that no other save has, for the folder of its files."""
    return DATA + os.urandom(8).hex()


def local_name(name: str) -> str:
    """Returns the path of a file in a checkpoint on a disk.

    Examples:
        >>> local_name("jaxtribute-0a1b2c3d4e5f6071/arrays/d/1"), local_name("arrays/d/1")
        ('arrays/d/1', 'arrays/d/1')
    """
    first, _, rest = name.partition("/")
    return rest if _ATTEMPT.fullmatch(first) else name


def in_threads(act: Callable[[_Item], object], items: Iterable[_Item], timeout: float) -> None:
    """Applies a function to each item, several at a time; raises the first error once all calls have ended or the time is up.

    Args:
        act: the function.
        items: what it is called with.
        timeout: seconds for all of them.

    Raises:
        TimeoutError: the time is up; calls still under way are abandoned.
    """
    waiting, errors = collections.deque(items), list[BaseException]()
    deadline = time.monotonic() + timeout

    def work() -> None:
        while not errors:
            try:
                item = waiting.popleft()
            except IndexError:
                return
            try:
                act(item)
            except BaseException as error:
                errors.append(error)

    # Not a pool's threads: Python waits for those at its end, for as long as the store does not answer.
    threads = [
        threading.Thread(target=work, name="spmd-store", daemon=True)
        for _ in range(min(_THREADS, len(waiting)))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        is_late = any(thread.is_alive() for thread in threads)
    finally:
        waiting.clear()
    if errors:
        raise errors[0]
    if is_late:
        raise TimeoutError(f"the store did not answer within {timeout:g} s")


def check_replaceable(checkpoint: StorePath) -> None:
    """Checks that nothing else is in the folder of a checkpoint that is to be saved.

    Raises:
        CheckpointError: something else is there.
    """
    names = {entry.name for entry in entries_of(checkpoint)}
    if not names or any(_ATTEMPT.fullmatch(name) for name in names):
        return
    if MANIFEST not in names or MARK not in (checkpoint / MANIFEST).read_bytes():
        raise CheckpointError(
            f"Expected a new folder or a checkpoint, but {checkpoint} is neither: it has {min(names)!r}. Save into it, under a "
            f"name: {checkpoint / 'ckpt'}"
        )


def upload(folder: str, names: Iterable[str], attempt: StorePath, timeout: float) -> None:
    """Puts files of a folder into that of an attempt."""
    in_threads(lambda name: (attempt / name).upload(os.path.join(folder, name)), names, timeout)


def check_uploaded(attempt: StorePath, sizes: Mapping[str, int]) -> None:
    """Compares what a store lists with what was put there.

    Raises:
        StoreError: a file is missing, or has another size.
    """
    with contextlib.suppress(FileNotFoundError):
        found = attempt.files() if sizes else {}
        for name, size in sizes.items():
            if found.get(name) != size:
                lists = f"{found[name]} bytes" if name in found else "no such file"
                raise StoreError(
                    f"{attempt / name}: the store lists {lists}, and {size} bytes were put there"
                )
        return
    raise StoreError(f"{attempt}: the store lists no such folder, and files were put there")


def publish(checkpoint: StorePath, manifest: str, attempt: str) -> None:
    """Puts the manifest of a checkpoint whose files are there, and deletes those that it replaces."""
    # What others put there afterwards is theirs.
    former = [each for each in entries_of(checkpoint) if _is_replaced(each.name, attempt)]
    (checkpoint / MANIFEST).write_text(manifest)
    with contextlib.suppress(OSError):  # it is complete; the next manager deletes them
        if (checkpoint / MANIFEST).read_text() == manifest:
            for each in former:
                each.rmtree()


def remove(checkpoint: StorePath) -> None:
    """Deletes a checkpoint: its manifest first, without which it is none."""
    with contextlib.suppress(FileNotFoundError):
        (checkpoint / MANIFEST).unlink()
    with contextlib.suppress(FileNotFoundError):
        checkpoint.rmtree()


def is_complete(checkpoint: StorePath) -> bool:
    """Tells whether a checkpoint was saved completely."""
    return (checkpoint / MANIFEST).is_file()


def entries_of(directory: StorePath) -> list[StorePath]:
    """Lists what is in a folder; nothing, if it is not there."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return list(directory.iterdir())
    return []


def complete_ones(candidates: Iterable[StorePath]) -> Iterator[StorePath]:
    """Yields those of several folders that are complete checkpoints, in their order."""
    several, complete = list(candidates), set[StorePath]()

    def look(candidate: StorePath) -> None:
        if is_complete(candidate):
            complete.add(candidate)

    in_threads(look, several, wait_seconds())
    yield from (each for each in several if each in complete)


def delete_leftovers(
    directory: StorePath, attempts_of: Callable[[StorePath], set[str] | None]
) -> None:
    """Deletes the files of saves that were killed.

    Args:
        directory: the folder of checkpoints.
        attempts_of: tells which attempts a checkpoint's manifest names; None if that cannot be read, and nothing of the
            checkpoint is deleted.
    """
    for checkpoint in entries_of(directory):
        attempts = [each for each in entries_of(checkpoint) if _ATTEMPT.fullmatch(each.name)]
        if attempts and (named := attempts_of(checkpoint)) is not None:
            for attempt in attempts:
                if attempt.name not in named:
                    attempt.rmtree()


def _is_replaced(name: str, attempt: str) -> bool:
    """Tells whether a name is that of another attempt's files, or of those of a checkpoint that was copied from a disk."""
    return name == ARRAYS or (name != attempt and _ATTEMPT.fullmatch(name) is not None)
