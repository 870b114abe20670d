"""The loops of a program around the code that is being traced: how often it will run, and where it is.

A branch or loop may be traced several times, until what it carries has settled. A *place* is a number of such a
part, or of a write in it, which is the same each time.
"""

import contextlib
import contextvars
import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

from spmd.assigned import assigned


@dataclasses.dataclass(frozen=True)
class _Loop:
    """A loop around the code that is being traced.

    Attributes:
        bound: how many turns it takes at most, if that is known.
        counter: what counts its turns from 0, if that is known.
        element: the number that a turn gets, and the least and largest of all turns, if they are known.
    """

    bound: int | None
    counter: Any
    element: tuple[Any, int, int] | None


_LOOPS: contextvars.ContextVar[tuple[_Loop, ...]] = contextvars.ContextVar("tf_loops", default=())


def in_loop(
    bound: int | None, counter: object = None, element: tuple[Any, int, int] | None = None
) -> contextlib.AbstractContextManager[Any]:
    """Marks the block in which the body of a loop is traced: an array that grows gets room for what it writes.

    Args:
        bound: how many turns the loop takes at most, if that is known.
        counter: the array that counts its turns from 0, if there is one.
        element: the number that a turn gets, and the least and largest of all turns, if they are known.
    """
    return assigned(_LOOPS, (*_LOOPS.get(), _Loop(bound, counter, element)))


def elements_around() -> list[tuple[Any, int, int]]:
    """Lists the numbers that the loops around go over, each with the least and largest of all turns."""
    return [loop.element for loop in _LOOPS.get() if loop.element is not None]


def turns_around() -> int | None:
    """Counts the turns of the loops around, all together at most; None if that is not known, or there is none."""
    bounds = [loop.bound for loop in _LOOPS.get()]
    known = [bound for bound in bounds if bound is not None]
    return math.prod(known) if bounds and len(known) == len(bounds) else None


def turn_counter() -> Any:
    """Returns the array that counts the turns of the innermost loop from 0, if there is one."""
    loops = _LOOPS.get()
    return loops[-1].counter if loops else None


Place = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class _Part:
    """A branch or loop that is being traced."""

    place: Place
    numbers: Iterator[int]


_PART: contextvars.ContextVar[_Part | None] = contextvars.ContextVar("tf_part", default=None)
_OUTERMOST = _Part((), itertools.count())


def next_place() -> Place:
    """Numbers the next branch, loop or write of the part that is being traced."""
    part = _PART.get() or _OUTERMOST
    return (*part.place, next(part.numbers))


def tracing_part(place: Place) -> contextlib.AbstractContextManager[Any]:
    """Marks the block in which a branch or loop is traced, once or once more.

    Args:
        place: its own.
    """
    return assigned(_PART, _Part(place, itertools.count()))
