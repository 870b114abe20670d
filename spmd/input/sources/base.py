"""What every kind of source is to the rest: passes over batches."""

import abc
import contextlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

from spmd.errors import BatchError
from spmd.typing import Json


class Source(abc.ABC):
    """A data source. Nothing is read before `batches`, which may run on another thread."""

    @classmethod
    @abc.abstractmethod
    def accepts(cls, source: Any, batch_size: int | None) -> bool:
        """Tells whether a data source is of this kind."""

    @abc.abstractmethod
    def __init__(self, source: Any, batch_size: int | None) -> None:
        """Wraps a data source of this kind.

        Args:
            source: what the user passed.
            batch_size: likewise.

        Raises:
            BatchError: `batch_size` is missing, or out of place.
        """

    @property
    @abc.abstractmethod
    def full_batch_rows(self) -> int | None:
        """Rows of a full batch, if known before one is read."""

    @abc.abstractmethod
    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass; None if unknown or endless.

        Args:
            drop_remainder: without those of fewer rows than a full one.
        """

    @abc.abstractmethod
    def batches(self) -> Iterator[Any]:
        """Starts a pass. If the iterator has a method `close`, it is called when the pass ends."""

    def position(self) -> Json:
        """Returns what the next pass depends on, such as the state of a shuffle."""
        return None

    def resumed_at(self, position: Json, batches: int) -> Iterator[Any]:
        """Starts the pass that began at a position, without its first batches.

        Args:
            position: what `position` returned before that pass, in this process or an earlier one.
            batches: how many to leave out.
        """
        del position
        return _without_first(self.batches(), batches)


def _without_first(iterator: Iterator[Any], count: int) -> Iterator[Any]:
    with contextlib.ExitStack() as stack:
        if hasattr(iterator, "close"):
            stack.callback(iterator.close)  # pyright: ignore[reportAttributeAccessIssue]
        yield from itertools.islice(iterator, count, None)


def count_batches(rows: int, batch_size: int, drop_remainder: bool) -> int:
    """Counts the batches that rows make."""
    return rows // batch_size if drop_remainder else -(-rows // batch_size)


def length_of(source: Any) -> int | None:
    """Returns `len(source)`, or None if it does not tell."""
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


def require_batch_size(batch_size: int | None, what: str) -> int:
    """Returns the batch size of a source of rows.

    Raises:
        BatchError: there is none.
    """
    if batch_size is None:
        raise BatchError(
            f"{what} is a source of single rows, so say how many make a batch: "
            "spmd.distribute(source, mesh, batch_size=global_batch_size)."
        )
    return batch_size


def reject_batch_size(batch_size: int | None, what: str) -> None:
    """Checks that a source of batches came without a batch size.

    Raises:
        BatchError: there is one.
    """
    if batch_size is not None:
        raise BatchError(
            f"{what} is a source of whole batches, which are not batched again, so batch_size="
            f"{batch_size} has no meaning. Leave batch_size out, and let the source make batches of "
            f"that size, for instance with .batch({batch_size})."
        )
