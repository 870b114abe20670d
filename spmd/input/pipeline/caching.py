"""`cache`: elements that are kept in memory after the first time."""

import threading
from collections.abc import Callable, Iterator
from typing import final

import jax
import numpy as np

from spmd.input.pipeline.chunks import Chunk
from spmd.input.pipeline.element import Batch, Element, snapshot
from spmd.input.pipeline.forms import Opener
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.row_sources import RowSource


def remembered(open_elements: Opener) -> Opener:
    """Returns what starts a pass over elements, remembered once a pass was read to its end.

    A pass that is given up early leaves nothing behind. What the cache hands out is locked against
    writing, in the first pass too.

    Args:
        open_elements: Starts a pass over the elements.
    """
    known: list[Element] | None = None

    def open_pass() -> Iterator[Element]:
        nonlocal known
        if known is not None:
            yield from known
            return
        recorded: list[Element] = []
        for element in open_elements():
            recorded.append(snapshot(element))
            yield recorded[-1]
        # Two threads may get here; each recording is complete, so either one will do.
        known = recorded

    return open_pass


@final
class RememberedSource(RowSource):
    """Rows in a fixed order, each looked up in another source the first time only.

    Args:
        source: Where the rows come from.
        order: Returns ``[rows, source.columns]``: row i of this source is row ``order[i]`` of that
            one. Called when the first row is looked up.
    """

    def __init__(self, source: RowSource, order: Callable[[], Chunk]) -> None:
        self._source, self._order = source, order
        self._lock = threading.Lock()
        self._known = Lazy(lambda: np.zeros(len(order()), np.bool_))
        self._leaves: list[np.ndarray] = []
        self.spec = source.spec

    def gather(self, chunk: Chunk, full: int) -> Batch:
        """Looks up rows; see `RowSource.gather`."""
        numbers = chunk[:, 0]
        with self._lock:
            unknown = np.unique(numbers[~self._known()[numbers]])
            if len(unknown):
                rows = jax.tree.leaves(self._source.gather(self._order()[unknown], full))
                if not self._leaves:
                    size = len(self._order())
                    self._leaves = [np.empty((size, *row.shape[1:]), row.dtype) for row in rows]
                for leaf, row in zip(self._leaves, rows, strict=True):
                    leaf[unknown] = row
                self._known()[unknown] = True
            found = [leaf.take(numbers, axis=0) for leaf in self._leaves]
        return jax.tree.unflatten(jax.tree.structure(self.spec), found)
