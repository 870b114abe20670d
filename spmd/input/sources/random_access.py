"""Data whose rows are read by index."""

from collections.abc import Mapping

from spmd.input.sources.base import AnySource, IndexedSource, require_batch_size
from spmd.input.sources.stacking import stack_rows
from spmd.typing import PyTree


def has_rows(source: AnySource, batch_size: int | None) -> bool:
    """Tells whether an object has a length and items by number; a list does not count."""
    is_indexed = hasattr(source, "__len__") and hasattr(source, "__getitem__")
    return is_indexed and not isinstance(source, list | Mapping | type)


def random_access_source(source: AnySource, batch_size: int | None) -> IndexedSource:
    """Reads rows by `len()` and `[index]`, such as `tfds.data_source`; many at once if it can.

    Source: `tensorflow_datasets.core.data_sources.base.DataSource`.
    """
    name = type(source).__name__
    size = require_batch_size(batch_size, f"Data with random access, like this {name},")

    def read(rows: slice) -> PyTree:
        indices = list(range(len(source))[rows])
        if hasattr(source, "__getitems__"):
            return stack_rows(source.__getitems__(indices))
        return stack_rows([source[index] for index in indices])

    return IndexedSource(name, lambda: len(source), read, size)
