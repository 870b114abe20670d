"""Data whose rows are read by index."""

from collections.abc import Iterator, Mapping
from typing import final

from spmd.input.sources.base import AnySource, Source, count_batches, require_batch_size
from spmd.input.sources.stacking import stack_rows
from spmd.typing import Json, PyTree


@final
class RandomAccessSource(Source):
    """Rows by `len()` and `[index]`, such as `tfds.data_source`; read many at once if it can.

    Source: `tensorflow_datasets.core.data_sources.base.DataSource`.
    """

    @classmethod
    def accepts(cls, source: AnySource, batch_size: int | None) -> bool:
        """Accepts objects with a length and items by number; a list is not one."""
        is_indexed = hasattr(source, "__len__") and hasattr(source, "__getitem__")
        return is_indexed and not isinstance(source, list | Mapping | type)

    def __init__(self, source: AnySource, batch_size: int | None) -> None:
        """Wraps a sequence of rows."""
        self._source = source
        self._batch_size = self.full_batch_rows = require_batch_size(
            batch_size, f"Data with random access, like this {type(source).__name__},"
        )

    def num_batches(self, drop_remainder: bool) -> int:
        """Counts the batches of a pass."""
        return count_batches(len(self._source), self._batch_size, drop_remainder)

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass, in the order of the indices."""
        return self.resumed_at(None, 0)

    def resumed_at(self, position: Json, batches: int) -> Iterator[PyTree]:
        """Starts a pass at a later batch; see `Source.resumed_at`."""
        del position
        rows = len(self._source)
        for start in range(batches * self._batch_size, rows, self._batch_size):
            indices = range(start, min(start + self._batch_size, rows))
            if hasattr(self._source, "__getitems__"):
                yield stack_rows(self._source.__getitems__(list(indices)))
            else:
                yield stack_rows([self._source[index] for index in indices])

    def __repr__(self) -> str:
        return f"{type(self._source).__name__} of {len(self._source)} rows"
