"""`x[5]` of arrays with fewer entries: an error, where JAX takes the last entry.

Checked are indices that are known: Python's numbers, NumPy's, and arrays of one number that has a value. Those that
only a running program knows are clipped there, as XLA does.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf.data.tracing import run_as_python
from frontends.tf.ops.convert import known
from frontends.tf.ops.operand_errors import OperandError
from frontends.tf.selected import masked, takes_masks


def bounded(getitem: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a `__getitem__` that refuses entries that do not exist.

    Args:
        getitem: a method of JAX's arrays.
    """

    @functools.wraps(getitem)
    def method(self: Any, key: Any) -> Any:
        kind = type(key)
        if kind is slice or key is None or key is Ellipsis:
            return getitem(self, key)
        shape = self.aval.shape
        if kind is int:
            if not shape:
                raise _too_many(shape, (key,))
            if _outside(key, shape[0]):
                raise _missing(shape, key, 0)
            return getitem(self, key)
        keys = [known(one) if isinstance(one, Tracer) else one for one in _listed(key)]
        key = tuple(keys) if kind is tuple else keys[0]
        if sum(map(axes_of, keys)) > len(shape):
            raise _too_many(shape, keys)
        empty: list[int] = []
        for axis, index in _by_axis(keys, shape):
            if isinstance(index, Tracer):
                if index.dtype == bool:
                    return _selected(self, keys, index)
                if shape[axis] == 0 and not index.shape:
                    empty.append(axis)
            elif (number := _number(index)) is not None and _outside(number, shape[axis]):
                raise _missing(shape, number, axis)
        if empty:
            # In a loop over rows of which there are none, XLA has to have something to index.
            return getitem(_with_an_entry(self, empty), key)
        return getitem(self, key)

    return method


def _listed(key: Any) -> tuple[Any, ...]:
    return key if type(key) is tuple else (key,)


def _by_axis(keys: Sequence[Any], shape: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Pairs indices with the axes that they select from; masks and arrays come with their first axis."""
    yield from _from_axis(0, _before_ellipsis(keys))
    if any(key is Ellipsis for key in keys):
        after = [*_before_ellipsis(keys[::-1])][::-1]
        yield from _from_axis(len(shape) - sum(map(axes_of, after)), after)


def _before_ellipsis(keys: Iterable[Any]) -> Iterator[Any]:
    for key in keys:
        if key is Ellipsis:
            return
        yield key


def _from_axis(axis: int, keys: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    for key in keys:
        if key is not None:
            yield axis, key
        axis += axes_of(key)


def axes_of(key: Any) -> int:
    """Counts the axes that an index selects from."""
    if key is None or key is Ellipsis or isinstance(key, bool):
        return 0
    is_mask = isinstance(key, np.ndarray | np.generic | jax.Array) and key.dtype == bool
    return key.ndim if is_mask else 1


def _number(index: Any) -> int | None:
    """Returns an index that is one number, and is known."""
    if isinstance(index, bool):
        return None
    if isinstance(index, int):
        return index
    known = isinstance(index, np.ndarray | np.generic | jax.Array) and not index.shape
    return int(index) if known and jnp.issubdtype(index.dtype, jnp.integer) else None


def _outside(index: int, size: Any) -> bool:
    # The sizes that the caller of an exported program chooses are not known.
    return isinstance(size, int) and not -size <= index < size


def _too_many(shape: Sequence[int], keys: Sequence[Any]) -> ValueError:
    return ValueError(
        f"Too many indices: an array of shape {tuple(shape)} has {len(shape)} dimensions, but there are indices for "
        f"{sum(map(axes_of, keys))}."
    )


def _missing(shape: Sequence[int], index: int, axis: int) -> ValueError:
    return ValueError(
        f"slice index {index} of dimension {axis} out of bounds: the array has shape {tuple(shape)}, so that the index "
        f"must be in [{-shape[axis]}, {shape[axis]})."
    )


def _selected(array: Any, keys: Sequence[Any], mask: Any) -> Any:
    """Takes what a mask marks that only the running program knows, unless the function can run as Python.

    Raises:
        OperandError: there are other indices beside the mask, or this is no step.
    """
    advice = (
        f"x[mask] with a mask of shape {tuple(mask.shape)} that is known only when the program runs: how many entries it "
        "takes is not known, and programs have fixed shapes. Keep the shape: tf.where(mask, x, 0), or weigh a sum with "
        "tf.cast(mask, x.dtype)."
    )
    run_as_python(advice)
    if takes_masks() and all(key is mask or _is_whole(key) for key in keys):
        before = keys[: next(i for i, key in enumerate(keys) if key is mask)]
        if not any(key is Ellipsis for key in before):
            return masked(array, mask, len(before))
    raise OperandError(advice)


def _is_whole(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, slice) and key == slice(None))


def _with_an_entry(array: Any, axes: Sequence[int]) -> Any:
    """Adds an entry along axes that have none: what JAX gives for one that does not exist."""
    if jnp.issubdtype(array.dtype, jnp.inexact):
        fill: Any = jnp.nan
    elif jnp.issubdtype(array.dtype, jnp.integer):
        fill = jnp.iinfo(array.dtype).min
    else:
        fill = True
    widths = [(0, 1 if axis in axes else 0) for axis in range(array.ndim)]
    return jnp.pad(array, widths, constant_values=fill)
