"""Shapes of the elements that a dataset's function did not write to a `tf.TensorArray`.

TensorFlow traces such a function, both branches of each condition: it knows of an array what would be written to it, and
stacks zeros of that shape. Here the function may run on elements, where only what is written has a shape. So it is
traced when a shape is asked for that no write told, for nothing but shapes.
"""

import contextlib
import contextvars
import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import jax
import numpy as np

from frontends.tf._typing import Nested
from frontends.tf.data.tracing import in_map_on_host, map_on_host
from spmd.assigned import assigned

_Shape = tuple[int, ...]


class _Call:
    """A call on an element.

    Attributes:
        numbers: counts the arrays that it makes.
        shapes: of the elements of each array, where the trace wrote one; None in a call that is not traced for them.
    """

    def __init__(self, trace: Callable[["_Call"], object], traced: bool) -> None:
        self._trace = trace
        self.numbers: Iterator[int] = itertools.count()
        self.shapes: dict[int, _Shape] | None = {} if traced else None
        self._found: dict[int, _Shape] | None = None

    def shape(self, number: int) -> _Shape | None:
        """Returns the shape of an array's elements, if tracing the call tells it."""
        if self.shapes is not None:
            return self.shapes.get(number)
        if self._found is None:
            call = _Call(self._trace, traced=True)
            # What the trace meets after the writes does not matter; the shape is unknown if it does not get there.
            with contextlib.suppress(Exception):
                self._trace(call)
            self._found = call.shapes or {}
        return self._found.get(number)


_CALL: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("tf_call", default=None)


def call_on_element(
    function: Callable[..., Any], args: Nested, kwargs: Nested
) -> AbstractContextManager[object]:
    """Marks the block in which a dataset's function, or a `tf.function` in it, is called on an element."""
    outer = _CALL.get()
    if not in_map_on_host() and (outer is None or outer.shapes is None):
        return contextlib.nullcontext()
    leaves, structure = jax.tree.flatten((args, kwargs))
    arrays = [i for i, leaf in enumerate(leaves) if _is_array(leaf)]

    def trace(call: _Call) -> None:
        def traceable(traced: list[Any]) -> None:
            for i, leaf in zip(arrays, traced, strict=True):
                leaves[i] = leaf
            given, named = jax.tree.unflatten(structure, leaves)
            function(*given, **named)

        specs = [jax.ShapeDtypeStruct(np.shape(leaves[i]), leaves[i].dtype) for i in arrays]
        with map_on_host(traced=True), assigned(_CALL, call):
            jax.eval_shape(traceable, specs)

    return assigned(_CALL, _Call(trace, traced=outer is not None and outer.shapes is not None))


def knowing_shapes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a dataset's function know the shapes of what it does not write."""

    @functools.wraps(function)
    def call(*args: Nested, **kwargs: Nested) -> Any:
        with call_on_element(function, args, kwargs):
            return function(*args, **kwargs)

    return call


def is_only_for_shapes() -> bool:
    """Tells whether a function is traced for nothing but the shapes of what it writes."""
    call = _CALL.get()
    return call is not None and call.shapes is not None


def next_number() -> int | None:
    """Numbers a new array of the call; None outside of calls."""
    call = _CALL.get()
    return None if call is None else next(call.numbers)


def note_shape(number: int | None, shape: _Shape) -> None:
    """Takes note of the shape of an element that is written to an array."""
    call = _CALL.get()
    if number is not None and call is not None and call.shapes is not None:
        call.shapes.setdefault(number, tuple(shape))


def shape_if_written(number: int | None) -> _Shape | None:
    """Returns the shape of what the call would write to an array, if that is known."""
    call = _CALL.get()
    return None if number is None or call is None else call.shape(number)


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | jax.Array) and leaf.dtype.kind in "biufc"
