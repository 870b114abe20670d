"""Plain Python: iterables, iterators and generator functions, all of batches."""

from collections.abc import Iterable, Iterator
from typing import final

from spmd.errors import BatchError
from spmd.input.sources.base import AnySource, BatchesSource, Source, length_of, reject_batch_size
from spmd.input.sources.protocols import ResumableBatches, SizedBatches
from spmd.typing import Json, PyTree


@final
class IterableSource(Source):
    """An iterable of batches; each pass iterates over it anew."""

    def __init__(self, source: AnySource, batch_size: int | None) -> None:
        """Wraps an iterable of batches."""
        reject_batch_size(batch_size, f"An iterable, like this {type(source).__name__},")
        self._source = source
        if isinstance(source, SizedBatches):
            self.full_batch_rows = source.full_batch_rows

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass, if the iterable has a length."""
        return None if drop_remainder else length_of(self._source)

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass."""
        return iter(self._source)

    def position(self) -> Json:
        """Returns what the next pass depends on, if the iterable knows; see `ResumableBatches`."""
        return self._source.position() if isinstance(self._source, ResumableBatches) else None

    def resumed_at(self, position: Json, batches: int) -> Iterator[PyTree]:
        """Resumes a pass, by the iterable's own means if it has any; see `Source.resumed_at`."""
        if position is not None and isinstance(self._source, ResumableBatches):
            return iter(self._source.resumed_at(position, batches))
        return super().resumed_at(position, batches)

    def __repr__(self) -> str:
        return type(self._source).__name__


def iterator_source(source: AnySource, batch_size: int | None) -> BatchesSource:
    """Reads an iterator over batches, such as a generator: good for one pass."""
    reject_batch_size(batch_size, f"An iterator, like this {type(source).__name__},")
    unread = [source]

    def start() -> Iterator[PyTree]:
        if not unread:
            raise BatchError(
                "The source is an iterator, which can be read once, and this is the second pass over "
                "it. Pass what makes the iterator, to be called for every pass: "
                "spmd.distribute(make_batches, mesh), without the brackets of make_batches()."
            )
        return unread.pop()

    return BatchesSource("iterator", start)


def function_source(source: AnySource, batch_size: int | None) -> BatchesSource:
    """Reads a function that returns an iterator over batches; each pass calls it anew."""
    reject_batch_size(batch_size, "A function that returns an iterator")

    def start() -> Iterator[PyTree]:
        result = source()
        if not isinstance(result, Iterable):
            raise BatchError(
                f"The function that was given as a source must return an iterator over batches, but "
                f"returned {result!r}. Write it with `yield`, or return iter(...)."
            )
        return iter(result)

    return BatchesSource(getattr(source, "__name__", type(source).__name__), start)
