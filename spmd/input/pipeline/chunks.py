"""Row numbers, in chunks: what an in-memory pipeline passes along instead of rows.

**Chunk**: an int64 array of shape ``[rows, columns]``. Each line says where to find one row; there
is one column for each array-like source that the row is put together from (see `row_sources`).
Chunks are never empty, and how a pipeline cuts its rows into chunks has no meaning.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from spmd.input.pipeline.nested import repeated

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


def cut(chunks: Iterable[Chunk], start: int, stop: int | None, step: int = 1) -> Iterator[Chunk]:
    """Yields the rows whose numbers are in ``range(start, stop, step)``, as `itertools.islice` does."""
    if stop == 0:
        return
    for chunk in chunks:
        kept = chunk[start:stop:step]
        if len(kept):
            yield kept
        start += step * len(kept) - len(chunk)
        if stop is not None:
            stop -= len(chunk)
            if stop <= 0:
                return


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
    yield from repeated(open_pass, count)


def side_by_side(passes: Iterable[Iterator[Chunk]]) -> Iterator[Chunk]:
    """Yields the rows of several passes next to each other, until the first of them ends."""
    passes = list(passes)
    heads = [np.empty((0, 0), np.int64)] * len(passes)
    while True:
        try:
            heads = [
                head if len(head) else next(rows) for head, rows in zip(heads, passes, strict=True)
            ]
        except StopIteration:
            return
        count = min(map(len, heads))
        yield np.concatenate([head[:count] for head in heads], axis=1)
        heads = [head[count:] for head in heads]


def regroup(chunks: Iterable[Chunk], rows: int, drop_remainder: bool = False) -> Iterator[Chunk]:
    """Yields the same rows in chunks of `rows`; the last one may be shorter, or is dropped."""
    parts: list[Chunk] = []
    missing = rows
    for chunk in chunks:
        while len(chunk) >= missing:
            head, chunk = chunk[:missing], chunk[missing:]
            yield np.concatenate([*parts, head]) if parts else head
            parts, missing = [], rows
        if len(chunk):
            parts.append(chunk)
            missing -= len(chunk)
    if parts and not drop_remainder:
        yield np.concatenate(parts)


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
