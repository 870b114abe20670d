"""Batches that come into the loops of a program: what `next(iterator)` gives in a turn that is being traced.

A program cannot ask an iterator of Python. But of a loop that goes over a known number of elements it is known how many
batches it takes, so that they can be given to the program before it starts. A *read* is one call of `next` in the body of
such a loop; a *site* is the number of the loop in the function.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Generator, Sequence
from typing import Any, final

from frontends.tf.data.iterator import ElementIterator
from frontends.tf.data.tracing import DatasetReadDuringTrace
from spmd._jax_internals import trace_state
from spmd.assigned import assigned
from spmd.step import StackedBatches


@dataclasses.dataclass(frozen=True)
class Read:
    """A call of `next` in the body of a loop.

    Attributes:
        site: which loop of the function.
        iterator: which argument of the function, as a position among its leaves.
        length: how many turns the loop has.
    """

    site: int
    iterator: int
    length: int


class UnknownRead(DatasetReadDuringTrace):
    """A loop reads an iterator whose batches the program was not given.

    Attributes:
        read: what it reads.
    """

    def __init__(self, read: Read) -> None:
        super().__init__()
        self.read = read


class Feeding:
    """What one trace of a function is given: the batches of each read."""

    def __init__(self, reads: Sequence[Read], batches: Sequence[Sequence[Any]]) -> None:
        """Makes it, inside the step.

        Args:
            reads: the reads, in the order of the function.
            batches: for each read, those of all turns.
        """
        self._reads = reads
        self._stacked = [StackedBatches(each) for each in batches]
        self._sites = 0

    def next_site(self) -> int:
        """Numbers the loops of the function."""
        self._sites += 1
        return self._sites - 1

    def of(self, site: int) -> list[tuple[Read, StackedBatches]]:
        """Returns the reads of a loop, and their batches."""
        pairs = zip(self._reads, self._stacked, strict=True)
        return [(read, stacked) for read, stacked in pairs if read.site == site]


class _Turn:
    """A turn of a loop that is being traced."""

    def __init__(self, loop: "FedLoop", rows: Sequence[Any]) -> None:
        self._loop, self._rows = loop, rows
        self._count = 0
        self._trace = trace_state()

    def take(self, iterator: "FedIterator") -> Any:
        if trace_state() != self._trace:
            # In a branch or a loop inside of the body it is not known how many batches are read.
            raise DatasetReadDuringTrace
        index, self._count = self._count, self._count + 1
        expected = Read(self._loop.site, iterator.position, self._loop.length)
        if index == len(self._rows):
            raise UnknownRead(expected)
        read, stacked = self._loop.reads[index]
        if read != expected:
            raise DatasetReadDuringTrace
        return stacked.batch(self._rows[index])


class FedLoop:
    """A loop of a program whose turns read batches.

    Attributes:
        site: which loop of the function.
        length: how many turns it has.
        reads: what a turn reads, in order.
        rows: pytree of arrays to go over, with `length` rows.
    """

    def __init__(
        self, site: int, length: int, reads: Sequence[tuple[Read, StackedBatches]]
    ) -> None:
        self.site, self.length, self.reads = site, length, reads
        self.rows = [stacked.rows for _, stacked in reads]

    def turn(self, rows: Sequence[Any]) -> contextlib.AbstractContextManager[Any]:
        """Marks the block in which the body is traced.

        Args:
            rows: a row of `rows`.
        """
        return assigned(_TURN, _Turn(self, rows))


_FEEDING: contextvars.ContextVar[Feeding | None] = contextvars.ContextVar(
    "tf_feeding", default=None
)
_TURN: contextvars.ContextVar[_Turn | None] = contextvars.ContextVar("tf_fed_turn", default=None)


@contextlib.contextmanager
def fed(feeding: Feeding) -> Generator[None]:
    """Marks the block in which a function is traced that reads batches in its loops."""
    with assigned(_FEEDING, feeding), assigned(_TURN, None):
        yield


def fed_loop(length: int, *, ends_early: bool) -> FedLoop | None:
    """Returns how the loop that begins here is fed; None if it is not, or is inside of another one.

    Args:
        length: how many turns it has.
        ends_early: whether it may have fewer, so that it is not known how many batches it takes.
    """
    feeding = _FEEDING.get()
    if feeding is None or _TURN.get() is not None or not length or ends_early:
        return None
    site = feeding.next_site()
    return FedLoop(site, length, feeding.of(site))


@final
class FedIterator(ElementIterator):
    """Stands for an iterator among the arguments of a function while this is traced.

    Attributes:
        position: which argument.
    """

    def __init__(self, position: int, dataset: Any) -> None:
        self.position = position
        self._dataset = dataset

    def __next__(self) -> Any:
        turn = _TURN.get()
        if turn is None:
            raise DatasetReadDuringTrace  # outside of a loop of the program
        return turn.take(self)
