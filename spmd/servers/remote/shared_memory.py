"""Memory that two processes of one machine share; it has no name, and is gone when they are, however they end."""

import mmap
import os

_CREATE = getattr(os, "memfd_create", None)  # Linux only


class SharedMemory:
    """A block of memory, at one of its two ends.

    Attributes:
        file: its descriptor.
        view: the memory.
    """

    def __init__(self, file: int) -> None:
        """Maps the memory of a descriptor, which it owns from now on."""
        self.file = file
        self.view = memoryview(mmap.mmap(file, 0))

    @classmethod
    def create(cls, size: int) -> "SharedMemory | None":
        """Makes a block; returns None where that is not possible.

        Examples:
            >>> import os
            >>> ours = SharedMemory.create(100)
            >>> theirs = ours and SharedMemory(os.dup(ours.file))
            >>> if ours and theirs:
            ...     ours.view[:3] = b"abc"
            ...     assert bytes(theirs.view[:3]) == b"abc"
        """
        if _CREATE is None:
            return None
        try:
            file = _CREATE("jaxtribute")
        except OSError:  # too many files are open, or a sandbox forbids it
            return None
        try:
            # Takes the memory now: a write to memory that is not there would kill the process.
            os.posix_fallocate(file, 0, size)
        except OSError:
            os.close(file)
            return None
        return cls(file)

    def __del__(self) -> None:
        os.close(self.file)
