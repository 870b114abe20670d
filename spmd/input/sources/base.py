"""`Source`: what the engine asks of a data source."""

import abc
import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar, cast, final

from spmd.errors import BatchError, Remedy
from spmd.typing import Json, PyTree

T = TypeVar("T")
# What `spmd.distribute` is given: arrays, a data set of any library, an iterable, a function.
AnySource: TypeAlias = Any


class Source(abc.ABC):
    """A data source, read in passes of batches.

    `distribute` takes one as it is, or makes it by the table that `register_source` adds to. Nothing is read
    before `batches` or `resumed_at`, which may run on another thread.

    Attributes:
        full_batch_rows: rows of a full batch; None if unknown before one is read.

    Examples:
        >>> import numpy as np, spmd
        >>> class Countdown(Source):
        ...     def batches(self):
        ...         return (np.full(2, n) for n in (2, 1))
        >>> list(spmd.distribute(Countdown(), spmd.make_mesh(["cpu:0"])))
        [PerReplica(0: [2, 2]), PerReplica(0: [1, 1])]
    """

    full_batch_rows: int | None = None

    @abc.abstractmethod
    def batches(self) -> Iterator[PyTree]:
        """Starts a pass. If the iterator has a method `close`, it is called when the pass ends."""

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass; None if unknown or endless.

        Args:
            drop_remainder: without those of fewer rows than a full one.
        """
        del drop_remainder
        return None

    def position(self) -> Json:
        """Returns what the next pass depends on, such as the state of a shuffle."""
        return None

    def resumed_at(self, position: Json, batches: int) -> Iterator[PyTree]:
        """Starts the pass that began at a position, without its first batches.

        Args:
            position: what `position` returned before that pass, in this process or an earlier one.
            batches: how many to leave out.
        """
        del position
        with closing(self.batches()) as iterator:
            yield from itertools.islice(iterator, batches, None)


@final
class BatchesSource(Source):
    """A source of batches that needs no more than a function to start a pass."""

    def __init__(
        self,
        name: str,
        start: Callable[[], Iterator[PyTree]],
        count: Callable[[], int | None] = lambda: None,
        full_batch_rows: int | None = None,
    ) -> None:
        """Makes a source.

        Args:
            name: for messages.
            start: starts a pass.
            count: counts the batches of a pass; returns None if that is unknown or endless.
            full_batch_rows: rows of a full batch; None if unknown.
        """
        self._name, self._start, self._count = name, start, count
        self.full_batch_rows = full_batch_rows

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass."""
        return self._start()

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass, if that is known and none may be dropped."""
        return None if drop_remainder else self._count()

    def __repr__(self) -> str:
        return self._name


@final
class IndexedSource(Source):
    """A source of rows that are read by their numbers."""

    def __init__(
        self, name: str, count: Callable[[], int], read: Callable[[slice], PyTree], batch_size: int
    ) -> None:
        """Makes a source.

        Args:
            name: for messages.
            count: counts the rows.
            read: returns a batch of some rows; the last ones may be beyond the end.
            batch_size: rows of a full batch.
        """
        self._name, self._count, self._read = name, count, read
        self._size = self.full_batch_rows = batch_size

    def num_batches(self, drop_remainder: bool) -> int:
        """Counts the batches of a pass."""
        return count_batches(self._count(), self._size, drop_remainder)

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass, in the order of the rows."""
        return self.resumed_at(None, 0)

    def resumed_at(self, position: Json, batches: int) -> Iterator[PyTree]:
        """Starts a pass at a later batch; see `Source.resumed_at`."""
        del position
        for start in range(batches * self._size, self._count(), self._size):
            yield self._read(slice(start, start + self._size))

    def __repr__(self) -> str:
        return f"{self._name} of {self._count()} rows"


def closing(iterator: Iterator[T]) -> contextlib.AbstractContextManager[Iterator[T]]:
    """Closes an iterator after the block, if it can be closed: a generator must be, to run its `finally` now."""
    can_close = callable(getattr(iterator, "close", None))
    return (
        contextlib.closing(cast(Any, iterator)) if can_close else contextlib.nullcontext(iterator)
    )


def count_batches(rows: int, batch_size: int, drop_remainder: bool) -> int:
    """Counts the batches that rows make."""
    return rows // batch_size if drop_remainder else -(-rows // batch_size)


def length_of(source: AnySource) -> int | None:
    """Returns `len(source)`, or None if it has no length."""
    try:
        return len(source)
    except TypeError:
        return None


def imported(module: str, *names: str) -> tuple[type, ...]:
    """Finds classes of a library, if it is imported: none of its objects exist before.

    Args:
        module: name of the library.
        *names: dotted names of classes in it.

    Returns:
        Those that exist, for `isinstance`.
    """
    found: list[type] = []
    for name in names:
        value: Any = sys.modules.get(module)
        for part in name.split("."):
            value = getattr(value, part, None)
        if isinstance(value, type):
            found.append(value)
    return tuple(found)


def is_from(module: str, *names: str) -> Callable[[AnySource, int | None], bool]:
    """Returns a predicate for `register_source`: whether a data source is of a class; see `imported`."""

    def accepts(source: AnySource, batch_size: int | None) -> bool:
        return isinstance(source, imported(module, *names))

    return accepts


def require_batch_size(batch_size: int | None, what: str) -> int:
    """Returns the batch size of a source of single rows.

    Args:
        batch_size: what `distribute` was given.
        what: names the source at the beginning of the error: "An array", for instance.

    Raises:
        BatchError: there is none.
    """
    if batch_size is None:
        raise BatchError(
            f"{what} is a source of single rows, so say how many make a batch: "
            f"{Remedy.BATCH_ROWS.spelled()}."
        )
    return batch_size


def reject_batch_size(batch_size: int | None, what: str) -> None:
    """Checks that a source of batches came without a batch size; see `require_batch_size`.

    Raises:
        BatchError: there is one.
    """
    if batch_size is not None:
        raise BatchError(
            f"{what} is a source of whole batches, which are not batched again, so batch_size="
            f"{batch_size} has no meaning. Leave batch_size out, and let the source make batches of "
            f"that size, for instance with .batch({batch_size})."
        )
