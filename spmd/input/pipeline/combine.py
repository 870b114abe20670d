"""Forms made of several: side by side, one after another, or mixed."""

import functools
from collections.abc import Callable, Iterator, Sequence

import jax
import numpy as np

from spmd.input.pipeline import chunks
from spmd.input.pipeline.chunks import Chunk
from spmd.input.pipeline.element import Element
from spmd.input.pipeline.forms import Form, Item
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.origins import numbers
from spmd.input.pipeline.row_sources import ConcatenatedSource, ZipSource
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.shuffling import ShuffleOrder, endless
from spmd.input.pipeline.spec import Specs, common_spec
from spmd.input.pipeline.stream import Stream
from spmd.typing import Structure


def zipped(structure: Structure, forms: Sequence[Form]) -> Form:
    """Returns the elements of several forms side by side, until the shortest ends.

    Args:
        structure: The pytree structure that the elements are put into.
        forms: One for each leaf of it.
    """
    stable = all(form.stable for form in forms)
    finite = any(form.finite for form in forms)
    rows = [form for form in forms if isinstance(form, Rows)]
    if len(rows) == len(forms):
        source = ZipSource(structure, [form.source for form in rows])

        def open_rows() -> Iterator[Chunk]:
            return chunks.side_by_side([form.open() for form in rows])

        return Rows(open_rows, source, stable=stable, finite=finite)

    def open_pass() -> Iterator[Element]:
        passes = [form.elements() for form in forms]
        return (jax.tree.unflatten(structure, row) for row in zip(*passes, strict=False))

    def find_spec() -> Specs:
        return jax.tree.unflatten(structure, [form.spec() for form in forms])

    return Stream(open_pass, find_spec, stable=stable, finite=finite)


def enumerated(form: Form, start: int) -> Form:
    """Returns pairs of a number, from `start` on, and an element."""
    counting = numbers(start, 1, np.dtype(np.int64), None)
    return zipped(jax.tree.structure((0, 0)), [counting, form])


def concatenated(first: Form, second: Form) -> Form:
    """Returns the elements of one form after the elements of another.

    Raises:
        TypeError: Both are rows, of different structure or dtypes.
    """
    stable = first.stable and second.stable
    finite = first.finite and second.finite
    if isinstance(first, Rows) and isinstance(second, Rows):
        common = common_spec(first.spec(), second.spec())
        if common == first.spec() == second.spec():
            source = ConcatenatedSource(first.source, second.source)

            def open_rows() -> Iterator[Chunk]:
                yield from (source.tag(chunk, 0) for chunk in first.open())
                yield from (source.tag(chunk, 1) for chunk in second.open())

            return Rows(open_rows, source, stable=stable, finite=finite)
    streams = [form.as_stream() if isinstance(form, Rows) else form for form in (first, second)]
    one, two = (stream for stream in streams if isinstance(stream, Stream))

    def open_pass() -> Iterator[tuple[int, Item]]:
        yield from ((0, item) for item in one.open())
        yield from ((1, item) for item in two.open())

    def step(numbered: tuple[int, Item]) -> Element:
        which, item = numbered
        return two.step(item) if which else one.step(item)

    return Stream(
        open_pass,
        Lazy(lambda: common_spec(one.spec(), two.spec())),
        step,
        max(one.workers, two.workers),
        stable=stable,
        finite=finite,
    )


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

    spec = Lazy(lambda: functools.reduce(common_spec, (form.spec() for form in forms)))
    return Stream(open_pass, spec, finite=finite)


def drawn(weights: np.ndarray, order: ShuffleOrder) -> Iterator[int]:
    """Draws numbers at random, without end.

    Args:
        weights: How likely each number is, in any unit; positive.
        order: What to draw from; a pass of it begins.
    """
    ends = np.cumsum(weights)
    ends = ends / ends[-1]
    generator, _ = order.begin_pass()
    yield from endless(
        lambda count: np.searchsorted(ends, generator.random(count), "right").tolist()
    )
