"""`x[i : i + 2]` where only the running program knows i: a block of known size at a place that it computes.

A slice that reaches past the end is shorter, so the block must lie inside of the array at every turn of a loop over i, or for
the index i of every replica.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf._array_items import axes_of
from frontends.tf.data.tracing import run_as_python
from frontends.tf.ops.convert import known
from frontends.tf.ops.operand_errors import OperandError
from frontends.tf.ops.turns import elements_around
from spmd import _jax_internals
from spmd.replica import axis_size, replica_axis


def with_traced_bounds(getitem: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a `__getitem__` that takes slices whose bounds are tensors.

    Args:
        getitem: a method of JAX's arrays.
    """

    @functools.wraps(getitem)
    def method(self: Any, key: Any) -> Any:
        if type(key) is slice:
            if not _is_traced(key):
                return getitem(self, key)
            keys: tuple[Any, ...] = (key,)
        elif type(key) is tuple and any(type(one) is slice and _is_traced(one) for one in key):
            keys = key
        else:
            return getitem(self, key)
        array, keys = _with_known_bounds(self, keys)
        # A block of an array that is known is one of the program's.
        return getitem(self, keys) if array is self else array[keys]

    return method


def _is_traced(key: slice) -> bool:
    return (
        isinstance(key.start, Tracer)
        or isinstance(key.stop, Tracer)
        or isinstance(key.step, Tracer)
    )


def _with_known_bounds(array: Any, keys: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Takes the blocks whose bounds are traced, and leaves the whole axes of them to index."""
    found: list[Any] = []
    axes, axis = sum(map(axes_of, keys)), 0
    for key in keys:
        if key is Ellipsis:
            axis += array.ndim - axes
        elif type(key) is slice and _is_traced(key):
            key = slice(*known([key.start, key.stop, key.step]))
            if _is_traced(key):
                array, key = _block(array, key, axis), slice(None)
        axis += axes_of(key)
        found.append(key)
    return array, tuple(found)


def _block(array: Any, key: slice, axis: int) -> Any:
    forms = [
        None if bound is None else _jax_internals.linear_form(bound)
        for bound in (key.start, key.stop)
    ]
    first, last = forms
    size = None
    if key.step in (None, 1) and first is not None and last is not None and first[:2] == last[:2]:
        size = max(last[2] - first[2], 0)
    if size is None or not _lies_inside(first, size, array.shape[axis]):
        advice = (
            f"x[{_text(key.start)}:{_text(key.stop)}{'' if key.step is None else ':' + _text(key.step)}] of an array of "
            f"shape {tuple(array.shape)}: how many entries it takes is known only when the program runs, and programs "
            "have fixed shapes. Take a block of known size that lies inside, tf.slice(x, [i], [2]), or x[i : i + 2] in a "
            "loop over a tf.range of known length; or mask the entries: tf.where(tf.range(n) < i, x, 0)."
        )
        run_as_python(advice)
        raise OperandError(advice)
    begin = jnp.asarray(key.start, jnp.int32)
    return jax.lax.dynamic_slice_in_dim(array, begin, size, axis)


def _lies_inside(first: Any, size: int, end: int) -> bool:
    """Tells whether a block lies inside of the axis at every turn of the loop, or in every replica, that decides where it begins."""
    base, factor, added = first
    if isinstance(base, _jax_internals.AxisIndex) and base.axis == replica_axis():
        begins = sorted((added, factor * (axis_size() - 1) + added))
        return begins[0] >= 0 and begins[1] + size <= end
    for element, least, largest in elements_around():
        form = _jax_internals.linear_form(element)
        if form is not None and form[0] is base and form[1:] == (1, 0):
            begins = sorted((factor * least + added, factor * largest + added))
            return begins[0] >= 0 and begins[1] + size <= end
    return False


def _text(bound: Any) -> str:
    return "" if bound is None else "?" if isinstance(bound, Tracer) else str(bound)
