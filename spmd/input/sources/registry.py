"""The table of the kinds of data sources: who reads what `distribute` is given."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

from spmd.errors import BatchError
from spmd.input.sources.arrays import array_source, has_arrays
from spmd.input.sources.base import AnySource, Source, is_from, reject_batch_size
from spmd.input.sources.grain_dataset import GrainSource
from spmd.input.sources.iterables import IterableSource, function_source, iterator_source
from spmd.input.sources.py_dataset import py_dataset_source
from spmd.input.sources.random_access import has_rows, random_access_source
from spmd.input.sources.tf_data import tf_data_source

T = TypeVar("T")
_Accepts: TypeAlias = Callable[[AnySource, int | None], bool]
_Make: TypeAlias = Callable[[Any, int | None], Source]

# The latest comes last, and is asked first: libraries' classes come before what they also are.
_KINDS: list[tuple[type[Any] | _Accepts, _Make]] = [
    (lambda source, batch_size: callable(source), function_source),
    (Iterable, IterableSource),
    (Iterator, iterator_source),
    (has_rows, random_access_source),
    (has_arrays, array_source),
    (is_from("keras", "utils.PyDataset"), py_dataset_source),
    (is_from("tensorflow", "data.Dataset"), tf_data_source),
    (is_from("grain", "MapDataset", "IterDataset", "DataLoader"), GrainSource),
]


def register_source(kind: type[T] | _Accepts, make: Callable[[T, int | None], Source]) -> None:
    """Teaches `distribute` to read another kind of data source.

    Kinds that are registered later are asked first. An object that is a `Source` needs no registration.

    Args:
        kind: a class; or a predicate of the data source and the batch size, which must be quick and read
            nothing.
        make: takes the data source and the batch size that `distribute` was given, or None, and returns
            what reads it. Raises `BatchError` if the batch size is missing or out of place; see
            `require_batch_size` and `reject_batch_size`.

    Examples:
        >>> import numpy as np, spmd
        >>> from spmd.input import Source, register_source, require_batch_size
        >>> class Squares:
        ...     def __init__(self, count):
        ...         self.count = count
        >>> class SquaresSource(Source):
        ...     def __init__(self, squares, batch_size):
        ...         self.count = squares.count
        ...         self.full_batch_rows = require_batch_size(batch_size, "Squares")
        ...
        ...     def num_batches(self, drop_remainder):
        ...         return None
        ...
        ...     def batches(self):
        ...         for start in range(0, self.count, self.full_batch_rows):
        ...             yield np.arange(start, min(start + self.full_batch_rows, self.count)) ** 2
        >>> register_source(Squares, SquaresSource)
        >>> for batch in spmd.distribute(Squares(3), spmd.make_mesh(["cpu:0"]), batch_size=2):
        ...     print(batch)
        [0 1]
        [4]
    """
    _KINDS.append((kind, make))


def find_source(source: AnySource, batch_size: int | None) -> Source:
    """Finds what reads a data source.

    Args:
        source: what the user passed.
        batch_size: rows of a full batch, for a source of single rows.

    Raises:
        BatchError: the source is of no known kind, or `batch_size` does not go with it.

    Examples:
        >>> import numpy as np
        >>> find_source(np.ones((5, 2)), 4)
        1 array(s) of 5 rows
    """
    if isinstance(source, Source):
        reject_batch_size(batch_size, f"A Source, like this {type(source).__name__},")
        return source
    if not isinstance(source, str | bytes):
        for kind, make in reversed(_KINDS):
            known = isinstance(source, kind) if isinstance(kind, type) else kind(source, batch_size)
            if known:
                return make(source, batch_size)
    raise BatchError(
        f"Expected a source of batches, but got {source!r} of type {type(source).__name__}. Supported "
        "are NumPy and JAX arrays and pytrees of them, data with len() and [index] such as "
        "tfds.data_source, Grain's MapDataset, IterDataset and DataLoader, tf.data.Dataset, Keras's "
        "PyDataset, iterables of batches, and functions that return an iterator over batches. "
        "spmd.input.register_source adds a kind."
    )
