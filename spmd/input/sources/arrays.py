"""Arrays in memory."""

import jax
import numpy as np

from spmd.input.batch import read_batch
from spmd.input.sources.base import AnySource, IndexedSource, require_batch_size
from spmd.replica import is_per_replica
from spmd.typing import PyTree


def has_arrays(source: AnySource, batch_size: int | None) -> bool:
    """Tells whether it is an array or a pytree; a list without a batch size is a list of batches."""
    if source is None or (isinstance(source, list) and batch_size is None):
        return False
    is_leaf = is_per_replica(source) or jax.tree_util.all_leaves([source])
    return isinstance(source, np.ndarray | jax.Array) or not is_leaf


def array_source(source: AnySource, batch_size: int | None) -> IndexedSource:
    """Reads a pytree of NumPy or JAX arrays, one row per example; batches are slices."""
    size = require_batch_size(batch_size, "An array, or a pytree of arrays,")
    data = read_batch(source, texts=True)

    def read(rows: slice) -> PyTree:
        return data.rebuild([leaf[rows] for leaf in data.leaves])

    return IndexedSource(f"{len(data.leaves)} array(s)", lambda: data.rows, read, size)
