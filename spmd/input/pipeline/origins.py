"""Where elements come from: forms over arrays, numbers, Python code and files."""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import jax
import numpy as np

from spmd.input.pipeline import chunks
from spmd.input.pipeline.element import (
    Batch,
    Element,
    can_stack,
    is_stackable,
    stack,
    to_element,
)
from spmd.input.pipeline.file_formats import Paths, Reader, opened
from spmd.input.pipeline.forms import Form, found_spec
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.nested import interleaved
from spmd.input.pipeline.row_sources import ArraySource, RangeSource
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.shuffling import ShuffleOrder, endless
from spmd.input.pipeline.spec import ArraySpec, common_spec, spec_of
from spmd.input.pipeline.stream import Stream, ready


def array_rows(arrays: Batch, length: int) -> Rows:
    """Returns the rows of arrays in memory.

    Args:
        arrays: A structure of arrays of shape ``[length, ...]``; referred to, not copied.
        length: How many rows there are.

    Examples:
        >>> rows = array_rows({"x": np.arange(5)}, 5)
        >>> for batch in rows.skip(1).batch(2, drop_remainder=False).elements():
        ...     print(batch)
        {'x': array([1, 2])}
        {'x': array([3, 4])}
    """
    return Rows(lambda: chunks.counting(length), ArraySource(arrays))


def numbers(start: int, step: int, dtype: np.dtype, length: int | None) -> Rows:
    """Returns numbers in steps.

    Args:
        start: The first number.
        step: From one number to the next.
        dtype: The numbers' dtype.
        length: How many there are; None for no end.
    """
    stop = sys.maxsize if length is None else length
    source = RangeSource(start, step, dtype)
    return Rows(lambda: chunks.counting(stop), source, finite=length is not None)


def random_numbers(order: ShuffleOrder) -> Stream:
    """Returns int64 numbers below ``2**32``, drawn at random without end."""

    def open_pass() -> Iterator[Element]:
        generator, _ = order.begin_pass()
        yield from endless(lambda count: generator.integers(2**32, size=count))

    spec = ArraySpec((), np.dtype(np.int64))
    return Stream(open_pass, lambda: spec, stable=not order.reshuffle, finite=False)


def in_memory(members: Sequence[Element]) -> Form:
    """Returns elements in memory, one at least; as rows if they are arrays that can be stacked."""
    if can_stack(members) and not any(map(is_stackable, jax.tree.leaves(members[0]))):
        return array_rows(stack(members), len(members))
    spec = Lazy(lambda: functools.reduce(common_spec, map(spec_of, members)))
    return ready(lambda: iter(members), spec)


def iterated(source: Iterable[object], *, finite: bool) -> Stream:
    """Returns the elements of an iterable, such as a Grain pipeline; each pass iterates over it anew."""
    form = Stream(lambda: map(to_element, source), found_spec(lambda: form), finite=finite)
    return form


def file_records(
    names: Form,
    open_names: Callable[[], Iterable[Paths]],
    compression: str | None,
    read: Reader,
    at_once: int = 1,
) -> Stream:
    """Returns the records of files, one file after the other.

    Args:
        names: The form that the names come from.
        open_names: Starts a pass over the names.
        compression: See `check_compression`.
        read: Takes the records out of an open file.
        at_once: Read so many files in turns, a record from each.
    """

    def of_file(name: Paths) -> Iterator[bytes]:
        with opened(name, compression) as file:
            yield from read(file)

    def open_pass() -> Iterator[bytes]:
        passes = map(of_file, open_names())
        return chain.from_iterable(passes) if at_once == 1 else interleaved(passes, at_once, 1)

    spec = ArraySpec((), np.dtype(object))
    return ready(open_pass, lambda: spec, names)
