"""Which kind of source is this?"""

from typing import Any

from spmd.errors import BatchError
from spmd.input.sources.arrays import ArraySource
from spmd.input.sources.base import Source
from spmd.input.sources.grain_dataset import GrainSource
from spmd.input.sources.iterables import GeneratorFunctionSource, IterableSource, IteratorSource
from spmd.input.sources.py_dataset import PyDatasetSource
from spmd.input.sources.random_access import RandomAccessSource
from spmd.input.sources.tf_data import TfDataSource

# The first that accepts a source takes it: libraries' classes come before what they also are.
_KINDS: tuple[type[Source], ...] = (
    GrainSource,
    TfDataSource,
    PyDatasetSource,
    ArraySource,
    RandomAccessSource,
    IteratorSource,
    IterableSource,
    GeneratorFunctionSource,
)


def find_source(source: Any, batch_size: int | None) -> Source:
    """Wraps a data source in the adapter of its kind.

    Args:
        source: what the user passed.
        batch_size: rows of a full batch, for a source of single rows.

    Returns:
        The adapter.

    Raises:
        BatchError: the source is of no known kind, or `batch_size` does not go with it.

    Examples:
        >>> import numpy as np
        >>> find_source(np.ones((5, 2)), 4)
        1 array(s) of 5 rows
    """
    if not isinstance(source, str | bytes):
        for kind in _KINDS:
            if kind.accepts(source, batch_size):
                return kind(source, batch_size)
    raise BatchError(
        f"Expected a source of batches, but got {source!r} of type {type(source).__name__}. Supported "
        "are NumPy and JAX arrays and pytrees of them, data with len() and [index] such as "
        "tfds.data_source, Grain's MapDataset, IterDataset and DataLoader, tf.data.Dataset, Keras's "
        "PyDataset, iterables of batches, and functions that return an iterator over batches."
    )
