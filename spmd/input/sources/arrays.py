"""Arrays in memory."""

from collections.abc import Iterator
from typing import final

import jax
import numpy as np

from spmd.input.batch import read_batch
from spmd.input.sources.base import AnySource, Source, count_batches, require_batch_size
from spmd.replica import is_per_replica
from spmd.typing import Json, PyTree


@final
class ArraySource(Source):
    """A pytree of NumPy or JAX arrays, one row per example; batches are slices."""

    @classmethod
    def accepts(cls, source: AnySource, batch_size: int | None) -> bool:
        """Accepts arrays and pytrees; a list without a batch size is a list of batches."""
        if source is None or (isinstance(source, list) and batch_size is None):
            return False
        is_leaf = is_per_replica(source) or jax.tree_util.all_leaves([source])
        return isinstance(source, np.ndarray | jax.Array) or not is_leaf

    def __init__(self, source: AnySource, batch_size: int | None) -> None:
        """Wraps arrays; they are not copied."""
        self._batch_size = self.full_batch_rows = require_batch_size(
            batch_size, "An array, or a pytree of arrays,"
        )
        self._data = read_batch(source)

    def num_batches(self, drop_remainder: bool) -> int:
        """Counts the batches of a pass."""
        return count_batches(self._data.rows, self._batch_size, drop_remainder)

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass."""
        return self.resumed_at(None, 0)

    def resumed_at(self, position: Json, batches: int) -> Iterator[PyTree]:
        """Starts a pass at a later batch; see `Source.resumed_at`."""
        del position
        for start in range(batches * self._batch_size, self._data.rows, self._batch_size):
            stop = start + self._batch_size
            yield self._data.rebuild([leaf[start:stop] for leaf in self._data.leaves])

    def __repr__(self) -> str:
        return f"{len(self._data.leaves)} array(s) of {self._data.rows} rows"
