"""Row numbers, in chunks: what an in-memory pipeline passes along instead of rows.

**Chunk**: an int64 array of shape ``[rows, columns]``. Each line says where to find one row; there
is one column for each array-like source that the row is put together from (see `row_sources`).
Chunks are never empty, and how a pipeline cuts its rows into chunks has no meaning.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

Chunk = NDArray[np.int64]

# Large enough that Python's cost per chunk does not count, small enough to stay in the CPU's cache.
_ROWS = 65_536


def counting(stop: int) -> Iterator[Chunk]:
    """Yields the row numbers below `stop`, in one column."""
    for start in range(0, stop, _ROWS):
        yield np.arange(start, min(start + _ROWS, stop), dtype=np.int64)[:, None]


def slices(rows: Chunk, most: int = _ROWS) -> Iterator[Chunk]:
    """Cuts a chunk, or a pass that is held as one array, into chunks of at most `most` rows."""
    for start in range(0, len(rows), most):
        yield rows[start : start + most]


def take(chunks: Iterable[Chunk], count: int) -> Iterator[Chunk]:
    """Yields the first `count` rows."""
    if count == 0:
        return
    for chunk in chunks:
        yield chunk[:count]
        count -= len(chunk)
        if count <= 0:
            return


def skip(chunks: Iterable[Chunk], count: int) -> Iterator[Chunk]:
    """Yields all rows but the first `count`."""
    for chunk in chunks:
        if count < len(chunk):
            yield chunk[count:]
        count = max(0, count - len(chunk))


def shard(chunks: Iterable[Chunk], num_shards: int, index: int) -> Iterator[Chunk]:
    """Yields rows `index`, ``index + num_shards``, ``index + 2 * num_shards`` and so on."""
    offset = index
    for chunk in chunks:
        if offset < len(chunk):
            yield chunk[offset::num_shards]
        offset = (offset - len(chunk)) % num_shards


def repeat(
    open_pass: Callable[[], Iterator[Chunk]], count: int | None, stable: bool
) -> Iterator[Chunk]:
    """Yields the rows of `count` passes; without end if None, unless a pass has no rows.

    Args:
        open_pass: Starts a pass.
        count: The number of passes.
        stable: Every pass has the same rows in the same order.
    """
    if stable:
        whole = list(itertools.islice(open_pass(), 2))
        if len(whole) == 1:
            yield from _tile(whole[0], count)
            return
    for _ in itertools.count() if count is None else range(count):
        empty = True
        for chunk in open_pass():
            empty = False
            yield chunk
        if empty:
            return


def side_by_side(passes: Iterable[Iterator[Chunk]]) -> Iterator[Chunk]:
    """Yields the rows of several passes next to each other, until the first of them ends."""
    passes = list(passes)
    heads: list[Chunk | None] = [None] * len(passes)
    while True:
        ready: list[Chunk] = []
        for rows, head in zip(passes, heads, strict=True):
            if head is None:
                head = next(rows, None)
            if head is None:
                return
            ready.append(head)
        count = min(map(len, ready))
        yield np.concatenate([head[:count] for head in ready], axis=1)
        heads = [head[count:] if len(head) > count else None for head in ready]


def regroup(chunks: Iterable[Chunk], rows: int, drop_remainder: bool = False) -> Iterator[Chunk]:
    """Yields the same rows in chunks of `rows`; the last one may be shorter, or is dropped."""
    parts: list[Chunk] = []
    missing = rows
    for chunk in chunks:
        start = 0
        while len(chunk) - start >= missing:
            parts.append(chunk[start : start + missing])
            start += missing
            yield _join(parts)
            parts, missing = [], rows
        if start < len(chunk):
            parts.append(chunk[start:])
            missing -= len(chunk) - start
    if parts and not drop_remainder:
        yield _join(parts)


def pad(chunk: Chunk, rows: int) -> Chunk:
    """Repeats the last row until there are `rows`."""
    if len(chunk) >= rows:
        return chunk
    return chunk[np.minimum(np.arange(rows), len(chunk) - 1)]


def _tile(whole: Chunk, count: int | None) -> Iterator[Chunk]:
    """Repeats a pass of one chunk, many passes at a time where the pass is short."""
    passes = max(1, _ROWS // len(whole))
    tile = np.tile(whole, (passes, 1))
    while count is None or count > 0:
        now = passes if count is None else min(passes, count)
        yield tile[: now * len(whole)]
        count = None if count is None else count - now


def _join(parts: list[Chunk]) -> Chunk:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
