"""Shuffling through a buffer, for single elements and, in the same order, for row numbers.

A buffer holds up to `buffer_size` elements. Each step gives out the one in a random place and puts
the next input there; when the input ends, the rest comes out in random order. So the element at
output position p comes from an input position below ``p + buffer_size``, and a buffer that holds
the whole input gives a uniform permutation.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeVar

import numpy as np

from spmd.assigned import assigned
from spmd.cluster import shared_seed
from spmd.input.pipeline.chunks import Chunk

T = TypeVar("T")
# Entropy, and how many passes have begun.
OrderState: TypeAlias = list[Any]

_DRAWS = 1024

# Shuffles without a seed differ by the order in which they were made, which is the same in all processes.
_NUMBERS = itertools.count()

_PEEKING: ContextVar[bool] = ContextVar("peeking", default=False)


def peeking() -> contextlib.AbstractContextManager[bool]:
    """Lets the caller look at a dataset's first elements without using up a pass.

    The pass that is read next has the order that was seen. Holds for the current thread (context)
    alone.
    """
    return assigned(_PEEKING, True)


class ShuffleOrder:
    """The random numbers of one `shuffle`, for one pass after the other.

    Args:
        entropy: What the order is drawn from, for `numpy.random.SeedSequence`; None for an order that
            differs between runs and is the same in all processes.
        reshuffle: Give every pass another order.

    Attributes:
        passes: How many passes have begun. Setting it continues there: with the same entropy, the
            next pass has the order that this pass had in any other run.

    Examples:
        >>> order = ShuffleOrder((7,), reshuffle=True)
        >>> sorted(shuffle_items(range(4), 2, order))
        [0, 1, 2, 3]
        >>> order.passes
        1
    """

    def __init__(self, entropy: tuple[int, ...] | None, reshuffle: bool) -> None:
        self._entropy = entropy
        self._number = next(_NUMBERS)
        self._lock = threading.Lock()
        self.reshuffle = reshuffle
        self.passes = 0

    @property
    def state(self) -> OrderState:
        """The numbers that the order of the next pass is drawn from, in JSON's types."""
        with self._lock:
            return [list(self._drawn_from()), self.passes]

    @state.setter
    def state(self, state: OrderState) -> None:
        with self._lock:
            self._entropy, self.passes = tuple(state[0]), state[1]

    def _drawn_from(self) -> tuple[int, ...]:
        # Without a seed the order must differ between runs, but not between passes when `reshuffle` is
        # off: so there is always one. Drawn late, once a cluster has been joined.
        self._entropy = self._entropy or (shared_seed(), self._number)
        return self._entropy

    def begin_pass(self) -> tuple[np.random.Generator, np.random.Generator]:
        """Begins a pass: returns the generators for its steps and for the rest of its buffer."""
        with self._lock:
            entropy = self._drawn_from()
            number = self.passes if self.reshuffle else 0
            if not _PEEKING.get():
                self.passes += 1
        seeds = np.random.SeedSequence((*entropy, number)).spawn(2)
        steps, rest = (np.random.Generator(np.random.PCG64(seed)) for seed in seeds)
        return steps, rest


def shuffle_items(items: Iterable[T], buffer_size: int, order: ShuffleOrder) -> Iterator[T]:
    """Yields the items of a pass in random order."""
    steps, rest = order.begin_pass()
    items = iter(items)
    buffer = list(itertools.islice(items, buffer_size))
    places = endless(lambda count: steps.integers(buffer_size, size=count).tolist())
    for item, place in zip(items, places, strict=False):
        yield buffer[place]
        buffer[place] = item
    for place in rest.permutation(len(buffer)):
        yield buffer[place]


def shuffle_chunks(
    chunks: Iterable[Chunk], buffer_size: int, order: ShuffleOrder
) -> Iterator[Chunk]:
    """Yields the rows of a pass in the order that `shuffle_items` would give them."""
    steps, rest = order.begin_pass()
    parts: list[Chunk] = []
    free = buffer_size
    buffer: Chunk | None = None
    for chunk in chunks:
        if free:
            parts.append(chunk[:free])
            chunk = chunk[free:]
            free -= len(parts[-1])
        if len(chunk):
            if buffer is None:
                buffer = np.concatenate(parts)
            yield _exchange(buffer, chunk, steps.integers(buffer_size, size=len(chunk)))
    if parts:
        left = np.concatenate(parts) if buffer is None else buffer
        yield left[rest.permutation(len(left))]


def endless(draw: Callable[[int], Iterable[T]]) -> Iterator[T]:
    """Yields random numbers without end.

    Args:
        draw: Draws as many as it is asked for.
    """
    while True:
        yield from draw(_DRAWS)


def _exchange(buffer: Chunk, chunk: Chunk, places: np.ndarray) -> Chunk:
    """Does one shuffle step for every row of `chunk`: changes `buffer`, returns what comes out.

    What a step takes out of a place is what the latest earlier step put there, or, for the first
    step at a place, what the buffer held. Sorted by place (and by time within one), that is the
    neighbour.
    """
    by_place = np.argsort(places, kind="stable")
    ordered = places[by_place]
    again = ordered[1:] == ordered[:-1]
    first, last = np.append(True, ~again), np.append(~again, True)
    out = np.empty_like(chunk)
    out[by_place[first]] = buffer[ordered[first]]
    out[by_place[1:][again]] = chunk[by_place[:-1][again]]
    buffer[ordered[last]] = chunk[by_place[last]]
    return out
