"""Shapes of the elements that a dataset's function did not write to a `tf.TensorArray`.

TensorFlow traces such a function, both branches of each condition: it knows of an array what would be written to it, and
stacks zeros of that shape. Here the function may run on elements, where only what is written has a shape. So it is
traced when a shape is asked for that no write told, for nothing but shapes: once for arguments of the same shapes.
"""

import contextlib
import contextvars
import functools
import itertools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import numpy as np

from frontends.tf._typing import Nested
from frontends.tf.data.tracing import in_map_on_host, map_on_host
from frontends.tf.ops.map_stream import only_for_shapes
from spmd.assigned import assigned

_Shape = tuple[int, ...]
# Shapes of the elements of arrays, by the numbers of the arrays.
_Shapes = Mapping[int, _Shape]

# How many traces of a function are remembered.
_MOST = 256


class FoundShapes:
    """What traces of one function found. May be used from several threads."""

    def __init__(self) -> None:
        self._found: OrderedDict[Hashable, _Shapes] = OrderedDict()

    def find(self, key: Hashable, trace: Callable[[], _Shapes]) -> _Shapes:
        """Returns what a trace finds; the same for the same key.

        Args:
            key: all that the trace depends on; None if that cannot be told.
            trace: finds the shapes.
        """
        if key is None:
            return trace()
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = trace()
            if len(self._found) > _MOST:
                with contextlib.suppress(KeyError):
                    self._found.popitem(last=False)
        return found


class _Call:
    """A call on an element.

    Attributes:
        numbers: counts the arrays that it makes.
        shapes: of the elements of each array, where the trace wrote one; None in a call that is not traced for them.
    """

    def __init__(self, find: Callable[[], _Shapes] | None) -> None:
        """Makes a call.

        Args:
            find: traces the call for shapes; None if this is that trace.
        """
        self._find = find
        self.numbers: Iterator[int] = itertools.count()
        self.shapes: dict[int, _Shape] | None = {} if find is None else None
        self._found: _Shapes = {}

    def shape(self, number: int) -> _Shape | None:
        """Returns the shape of an array's elements, if tracing the call tells it."""
        if self.shapes is not None:
            return self.shapes.get(number)
        if self._find is not None:
            self._found, self._find = self._find(), None
        return self._found.get(number)


_CALL: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("tf_call", default=None)


def call_on_element(
    function: Callable[..., Any], args: Nested, kwargs: Nested, found: FoundShapes
) -> AbstractContextManager[object]:
    """Marks the block in which a dataset's function, or a `tf.function` in it, is called on an element.

    Args:
        function: what is called.
        args: with what.
        kwargs: likewise.
        found: what is known of the function from calls before.
    """
    outer = _CALL.get()
    if outer is not None and outer.shapes is not None:
        return assigned(_CALL, _Call(None))
    if not in_map_on_host():
        return contextlib.nullcontext()
    leaves, structure = jax.tree.flatten((args, kwargs))
    arrays = [i for i, leaf in enumerate(leaves) if _is_array(leaf)]

    def traceable(traced: Sequence[Any]) -> None:
        given = dict(zip(arrays, traced, strict=True))
        values = [given.get(i, leaf) for i, leaf in enumerate(leaves)]
        given_args, given_kwargs = jax.tree.unflatten(structure, values)
        function(*given_args, **given_kwargs)

    def trace() -> _Shapes:
        call = _Call(None)
        specs = [jax.ShapeDtypeStruct(np.shape(leaves[i]), leaves[i].dtype) for i in arrays]
        # What the trace meets after the writes does not matter; the shape is unknown if it does not get there.
        with (
            contextlib.suppress(Exception),
            map_on_host(traced=True),
            only_for_shapes(),
            assigned(_CALL, call),
        ):
            jax.eval_shape(traceable, specs)
        return call.shapes or {}

    return assigned(_CALL, _Call(lambda: found.find(_key(structure, leaves), trace)))


def knowing_shapes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a dataset's function know the shapes of what it does not write."""
    found = FoundShapes()

    @functools.wraps(function)
    def call(*args: Nested, **kwargs: Nested) -> Any:
        with call_on_element(function, args, kwargs, found):
            return function(*args, **kwargs)

    return call


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


def _key(structure: Hashable, leaves: Sequence[Any]) -> Hashable:
    """Returns what a trace depends on: of numbers the shapes, of all else the values; None if these have no hash."""
    parts = []
    for leaf in leaves:
        if isinstance(leaf, np.ndarray | np.generic | jax.Array):
            texts = None if _is_array(leaf) else tuple(np.asarray(leaf).ravel().tolist())
            parts.append((np.shape(leaf), leaf.dtype, texts))
        else:
            parts.append((type(leaf), leaf))
    key = (structure, tuple(parts))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | jax.Array) and leaf.dtype.kind in "biufc"
