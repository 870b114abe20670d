"""What an iterable of batches may tell about itself: protocols that `distribute` recognises."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

from spmd.typing import Json


@runtime_checkable
class SizedBatches(Protocol):
    """An iterable that knows how many rows a full batch has, before one is read.

    Examples:
        >>> import numpy as np, spmd
        >>> class Batches:
        ...     full_batch_rows = 8
        ...
        ...     def __iter__(self):
        ...         return iter([np.arange(5)])
        >>> isinstance(Batches(), SizedBatches)
        True
        >>> spmd.distribute(Batches(), spmd.make_mesh(["cpu:0"])).rows_per_replica
        8
    """

    @property
    def full_batch_rows(self) -> int | None:
        """Rows of a full batch; None if unknown."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


@runtime_checkable
class ResumableBatches(Protocol):
    """An iterable whose passes can be resumed in a later run, in the same order."""

    def position(self) -> Json:
        """Returns what the next pass depends on, such as the state of a shuffle."""
        ...

    def resumed_at(self, position: Json, batches: int) -> Iterable[Any]:
        """Returns the batches of an earlier pass that are left.

        Args:
            position: what `position` returned before that pass, in this process or an earlier one.
            batches: how many of its batches to leave out.
        """
        ...

    def __iter__(self) -> Iterator[Any]: ...
