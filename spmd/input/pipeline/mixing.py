"""Elements that come from one of several forms at a time."""

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from spmd.input.pipeline import spec as specs
from spmd.input.pipeline.element import Element
from spmd.input.pipeline.forms import Form
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.shuffling import ShuffleOrder
from spmd.input.pipeline.stream import Stream

_DRAWS = 1024


def mixed(
    forms: Sequence[Form],
    numbers: Callable[[], Iterator[int]],
    *,
    stop_on_empty: bool,
    finite: bool,
) -> Stream:
    """Takes every element from the form whose number comes next.

    Args:
        forms: Forms of elements of the same structure and dtypes.
        numbers: Starts a pass over numbers from 0 to ``len(forms) - 1``.
        stop_on_empty: End where the form whose turn it is has ended; else go on to the next number.
        finite: A pass ends, as far as is known.
    """

    def open_pass() -> Iterator[Element]:
        passes: list[Iterator[Element] | None] = [form.elements() for form in forms]
        ended = object()
        for number in numbers():
            rows = passes[number]
            element = ended if rows is None else next(rows, ended)
            if element is not ended:
                yield element
                continue
            passes[number] = None
            if stop_on_empty or not any(passes):
                return

    spec = Lazy(lambda: functools.reduce(specs.relaxed, (form.spec() for form in forms)))
    return Stream(open_pass, spec, finite=finite)


def drawn(weights: np.ndarray, order: ShuffleOrder) -> Iterator[int]:
    """Draws numbers at random, without end.

    Args:
        weights: How likely each number is, in any unit; positive.
        order: What to draw from; a pass of it begins.
    """
    ends = np.cumsum(weights)
    generator, _ = order.begin_pass()
    while True:
        draws = np.searchsorted(ends / ends[-1], generator.random(_DRAWS), side="right")
        yield from draws.tolist()
