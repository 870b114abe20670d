"""Plain Python: iterables, iterators and generator functions, all of batches."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

from spmd.errors import BatchError
from spmd.input.sources.base import Source, length_of, reject_batch_size
from spmd.input.sources.protocols import ResumableBatches, SizedBatches
from spmd.typing import Json


@final
class IterableSource(Source):
    """An iterable of batches; each pass iterates over it anew."""

    @classmethod
    def accepts(cls, source: Any, batch_size: int | None) -> bool:
        """Accepts whatever can be iterated over."""
        return isinstance(source, Iterable)

    def __init__(self, source: Any, batch_size: int | None) -> None:
        """Wraps an iterable of batches."""
        reject_batch_size(batch_size, f"An iterable, like this {type(source).__name__},")
        self._source = source

    @property
    def full_batch_rows(self) -> int | None:
        """Rows of a full batch, if the iterable knows; see `SizedBatches`."""
        return self._source.full_batch_rows if isinstance(self._source, SizedBatches) else None

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass, if the iterable has a length."""
        return None if drop_remainder else length_of(self._source)

    def batches(self) -> Iterator[Any]:
        """Starts a pass."""
        return iter(self._source)

    def position(self) -> Json:
        """Returns what the next pass depends on, if the iterable knows; see `ResumableBatches`."""
        return self._source.position() if isinstance(self._source, ResumableBatches) else None

    def resumed_at(self, position: Json, batches: int) -> Iterator[Any]:
        """Resumes a pass, by the iterable's own means if it has any; see `Source.resumed_at`."""
        if position is not None and isinstance(self._source, ResumableBatches):
            return iter(self._source.resumed_at(position, batches))
        return super().resumed_at(position, batches)

    def __repr__(self) -> str:
        return type(self._source).__name__


class _UnknownSource(Source):
    """A source that tells nothing before it is read."""

    @property
    def full_batch_rows(self) -> None:
        """Unknown before the first batch."""
        return None

    def num_batches(self, drop_remainder: bool) -> None:
        """Unknown."""
        return None


@final
class IteratorSource(_UnknownSource):
    """An iterator over batches, such as a generator: good for one pass."""

    @classmethod
    def accepts(cls, source: Any, batch_size: int | None) -> bool:
        """Accepts iterators."""
        return isinstance(source, Iterator)

    def __init__(self, source: Any, batch_size: int | None) -> None:
        """Wraps an iterator over batches."""
        reject_batch_size(batch_size, f"An iterator, like this {type(source).__name__},")
        self._source: Iterator[Any] | None = source

    def batches(self) -> Iterator[Any]:
        """Starts the only pass.

        Raises:
            BatchError: it is not the first.
        """
        source, self._source = self._source, None
        if source is None:
            raise BatchError(
                "The source is an iterator, which can be read once, and this is the second pass over "
                "it. Pass what makes the iterator, to be called for every pass: "
                "spmd.distribute(make_batches, mesh), without the brackets of make_batches()."
            )
        return source

    def __repr__(self) -> str:
        return "iterator"


@final
class GeneratorFunctionSource(_UnknownSource):
    """A function that returns an iterator over batches; each pass calls it anew."""

    @classmethod
    def accepts(cls, source: Any, batch_size: int | None) -> bool:
        """Accepts whatever can be called."""
        return callable(source)

    def __init__(self, source: Any, batch_size: int | None) -> None:
        """Wraps a function without arguments."""
        reject_batch_size(batch_size, "A function that returns an iterator")
        self._source: Callable[[], Iterable[Any]] = source

    def batches(self) -> Iterator[Any]:
        """Starts a pass.

        Raises:
            BatchError: the function returns something else.
        """
        result = self._source()
        if not isinstance(result, Iterable):
            raise BatchError(
                f"The function that was given as a source must return an iterator over batches, but "
                f"returned {result!r}. Write it with `yield`, or return iter(...)."
            )
        return iter(result)

    def __repr__(self) -> str:
        return getattr(self._source, "__name__", type(self._source).__name__)
