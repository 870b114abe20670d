"""Which of a pipeline's files this process reads, where each process reads files of its own.

Pipelines that find or read files ask when a pass begins, because one pipeline may be read whole and in
parts. A reader that a pipeline makes for each file name (`interleave`) reads all that it is given: the
names were divided before.
"""

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

from spmd.assigned import assigned

T = TypeVar("T")


class FileShard:
    """One process's part of the files.

    Attributes:
        count: how many processes there are.
        index: which of them this is.
        used: whether a pipeline has divided its files.
    """

    def __init__(self, count: int, index: int) -> None:
        """Makes a part."""
        self.count, self.index = count, index
        self.used = False

    def in_force(self) -> contextlib.AbstractContextManager["FileShard | None"]:
        """Restricts pipelines that are read in the block, on this thread, to this part."""
        return assigned(_SHARD, self)


_SHARD: ContextVar[FileShard | None] = ContextVar("file_shard", default=None)


def is_reading_part() -> bool:
    """Tells whether a part of the files is being read: a pipeline made meanwhile is for one of its files."""
    return _SHARD.get() is not None


def own_files(names: Iterable[T]) -> Iterator[T]:
    """Yields the files of this process's part, or all of them.

    Args:
        names: of all files, in the same order in all processes.

    Examples:
        >>> shard = FileShard(2, 1)
        >>> with shard.in_force():
        ...     list(own_files(["a", "b", "c", "d"]))
        ['b', 'd']
        >>> shard.used
        True
    """
    shard = _SHARD.get()
    if shard is None:
        yield from names
        return
    shard.used = True
    yield from itertools.islice(names, shard.index, None, shard.count)
