"""Which of a pipeline's files this process reads, where each process reads files of its own.

The datasets that find or read files ask when a pass begins, because one dataset may be read whole and in
parts. A reader that a pipeline makes for each file name (`interleave`) reads all that it is given: the
names were divided before.
"""

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any


class FileShard:
    """Every process's part of the files.

    Attributes:
        count: how many processes there are.
        index: which of them this is.
        used: whether a dataset has divided its files.
    """

    def __init__(self, count: int, index: int) -> None:
        """Makes a part."""
        self.count, self.index = count, index
        self.used = False

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Lets datasets that are read meanwhile, on this thread, read this part only."""
        token = _SHARD.set(self)
        try:
            yield
        finally:
            _SHARD.reset(token)


_SHARD: ContextVar[FileShard | None] = ContextVar("file_shard", default=None)


def is_reading_part() -> bool:
    """Tells whether a part of the files is being read: what is made meanwhile is made for a file of it."""
    return _SHARD.get() is not None


def own_files(names: Iterable[Any]) -> Iterator[Any]:
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
