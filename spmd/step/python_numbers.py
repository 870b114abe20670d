"""Python numbers among a step's arguments: static where they must be, traced where they can be.

A number that is *static* stays a Python number: it may be an axis, a size, or the end of a `range`, and is a part of the
program. One that is *traced* is an array of a weak type, and one program serves all values. At the first call a
number is static. When another one of its type comes in its place, the step is traced with it as an array. If that
fails, because the step needs a Python number there, it is static from then on: a program for each value.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import jax
import numpy as np

from spmd.errors import TraceAbandoned
from spmd.typing import TreeStructure

T = TypeVar("T")
# Structure of the arguments, index of the leaf, type of the number.
Place: TypeAlias = tuple[TreeStructure, int, type]

NUMBERS: Final = (int, float, complex)

# How often a step is traced to find out which of its numbers can be; a list of many may hold hundreds.
_MAX_ATTEMPTS = 8


class PythonNumbers:
    """What a step has learned of the numbers that it was called with.

    Examples:
        >>> import jax
        >>> numbers, structure = PythonNumbers(), jax.tree.structure(0)
        >>> place = (structure, 0, int)
        >>> [numbers.is_traced(*place), numbers.changes(place, 1), numbers.changes(place, 2)]
        [False, False, True]
        >>> numbers.settle(place, True)
        >>> numbers.is_traced(*place)
        True
    """

    def __init__(self, *, trace_first: bool = False) -> None:
        """Starts with nothing learned.

        Args:
            trace_first: whether to trace numbers from the first call on, where that can be done.
        """
        self._trace_first = trace_first
        self._settled: dict[Place, bool] = {}
        self._first: dict[Place, Hashable] = {}

    def is_traced(self, structure: TreeStructure, index: int, kind: type) -> bool:
        """Tells whether a number is traced, as far as is known."""
        return self._settled.get((structure, index, kind), self._trace_first)

    def is_settled(self, place: Place) -> bool:
        """Tells whether it is known how a number enters the step."""
        return place in self._settled

    def changes(self, place: Place, key: Hashable) -> bool:
        """Notes a number that is static so far, and tells whether another one came in its place before.

        Args:
            place: where it stands.
            key: of the number, see `number_key`.
        """
        return self._first.setdefault(place, key) != key

    def settle(self, place: Place, traced: bool) -> None:
        """Remembers how a number enters the step from now on."""
        self._settled[place] = traced
        self._first.pop(place, None)


def number_key(number: complex) -> Hashable:
    """Makes a key that is equal for the same number: 0.0 and -0.0 are not, and NaN is.

    Examples:
        >>> number_key(0.0) == number_key(-0.0), number_key(1) == number_key(1.0)
        (False, False)
    """
    return type(number), number if type(number) is int else repr(number)


def as_traced(number: complex) -> np.ndarray[Any, Any] | None:
    """Makes the array that stands for a number in a program; None for an integer that fits no array.

    Examples:
        >>> as_traced(2**80) is None, as_traced(0.5)
        (True, array(0.5, dtype=float32))
    """
    try:
        return np.asarray(number, jax.dtypes.canonicalize_dtype(type(number)))
    except OverflowError:
        return None


def most_traced(
    build: Callable[[Collection[Place]], T], sure: Collection[Place], maybe: Collection[Place]
) -> tuple[T, Collection[Place]]:
    """Builds a program with as many numbers traced as can be.

    What a step does with a number shows only when it is traced. A trace that needs the number may fail
    with any error, after code of the user's or of a library has seen it, so that every error counts that does
    not come with static numbers too.

    Args:
        build: builds it, with these numbers traced.
        sure: numbers that were traced before, in programs of other shapes.
        maybe: numbers that were not.

    Returns:
        The program, and the numbers that it traces.

    Raises:
        BaseException: what `build` raises if all are static.
    """
    every = [*sure, *maybe]
    made = _attempt(build, every) if every else None
    if made is not None:
        return made, every
    traced = list(sure)
    made = _attempt(build, traced) if sure and maybe else None
    if made is None:
        made, traced = build(()), []
    # Some cannot be traced; the others may. Halves are tried, and their halves; the same in all processes.
    failed = [set(every), set(sure)]
    ahead = _halves([place for place in every if place not in traced])
    for _ in range(_MAX_ATTEMPTS):
        if not ahead:
            break
        more = [*traced, *(part := ahead.pop(0))]
        better = None if set(more) in failed else _attempt(build, more)
        if better is not None:
            made, traced = better, more
        else:
            failed.append(set(more))
            ahead = [*_halves(part), *ahead]
    return made, traced


def _halves(places: Sequence[Place]) -> list[Sequence[Place]]:
    middle = (len(places) + 1) // 2
    return [places[:middle], places[middle:]] if len(places) > 1 else []


def _attempt(build: Callable[[Collection[Place]], T], traced: Collection[Place]) -> T | None:
    try:
        return build(traced)
    except (Exception, TraceAbandoned):
        return None
