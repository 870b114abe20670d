"""Memory that two processes of one machine share: messages of arrays pass through it, and Ray carries their sizes.

The file behind it lies in memory (`/dev/shm`), can be opened by its user only, and has no name any more once both
processes have it: so it is gone when they are, however they end.
"""

import contextlib
import mmap
import os
import secrets
from pathlib import Path

_FOLDER = Path("/dev/shm")
_MARK = 32


class SharedMemory:
    """A block of memory, at one of its two ends.

    Attributes:
        path: of its file, while it has a name.
        mark: what the file begins with, by which the other end knows it.
        view: the memory.
    """

    def __init__(self, path: Path, file: int, mark: bytes) -> None:
        """Maps an open file; `create` and `open` do it."""
        self.path, self.mark = path, mark
        self._map = mmap.mmap(file, 0)
        self.view = memoryview(self._map)

    @classmethod
    def create(cls, size: int) -> "SharedMemory | None":
        """Makes a block; returns None where that is not possible.

        Examples:
            >>> ours = SharedMemory.create(100)
            >>> theirs = ours and SharedMemory.open(str(ours.path), ours.mark)
            >>> if ours and theirs:
            ...     ours.unlink()
            ...     ours.view[:3] = b"abc"
            ...     assert bytes(theirs.view[:3]) == b"abc"
        """
        path, mark = _FOLDER / f"jaxtribute-{secrets.token_hex(16)}", secrets.token_bytes(_MARK)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            return None
        try:
            # Takes the memory now: a write to memory that is not there would kill the process.
            os.posix_fallocate(file, 0, max(size, _MARK))
            os.pwrite(file, mark, 0)
            return cls(path, file, mark)
        except OSError:
            path.unlink()
            return None
        finally:
            os.close(file)

    @classmethod
    def open(cls, path: str, mark: bytes) -> "SharedMemory | None":
        """Opens the block that another process made; returns None if this machine does not have it."""
        try:
            file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            return cls(Path(path), file, mark) if os.pread(file, _MARK, 0) == mark else None
        finally:
            os.close(file)

    def unlink(self) -> None:
        """Takes the name away."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
