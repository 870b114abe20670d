"""Folders on this machine's disk for what goes to an object store and comes from one.

What a killed process leaves there is deleted by the next one that makes such a folder.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import weakref
from pathlib import Path

_LOCK = "lock"


class StagingFolder:
    """An empty folder, deleted with this object, or at the end of the process.

    Attributes:
        path: the folder, in `tempfile.gettempdir()`, which `TMPDIR` names.
    """

    def __init__(self) -> None:
        """Makes the folder, and deletes those of processes that have ended without deleting theirs."""
        _delete_abandoned()
        made = tempfile.mkdtemp(prefix=_prefix())
        # Locked before it has its name, by which others look for it.
        lock = os.open(os.path.join(made, f"{_LOCK}.new"), os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(os.path.join(made, f"{_LOCK}.new"), os.path.join(made, _LOCK))
        self.path = os.path.join(made, "files")
        os.mkdir(self.path)
        self.delete = weakref.finalize(self, _delete, made, lock, os.getpid())


def _prefix() -> str:
    return f"jaxtribute-staging-{os.getuid()}-"


def _delete(folder: str, lock: int, process: int) -> None:
    if os.getpid() != process:  # a fork, whose parent still needs it
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _delete_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix()}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / _LOCK, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process runs
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
