"""Brings entries of several arrays together, of which masks took some.

Entries that one mask took of several arrays stand in the same places. Those of different masks are moved to the beginning of their
axis. Whether these are as many, only the running program knows: the selection notes it, and a reduction gives NaN where they do not fit.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.selected.selection import (
    Marked,
    Selection,
    SelectionError,
    compacted,
    filled,
)


def merged(
    caller: str, inputs: Sequence[Marked], *, repeats: bool = True
) -> tuple[list[Marked], tuple[Selection | None, ...]]:
    """Brings entries that belong together to the same places.

    Args:
        caller: what is called, for errors.
        inputs: arrays of one shape, and numbers.
        repeats: whether one entry stands for all of an axis.

    Returns:
        The arrays, and the marks of what is computed of them.

    Raises:
        SelectionError: an array has all entries of an axis of which a mask took some of another one.
    """
    rank = max(len(one.marks) for one in inputs)
    full = [one for one in inputs if len(one.marks) == rank]
    for axis in range(rank):
        full = aligned(caller, full, [axis] * len(full), repeats=repeats)
    rest = iter(full)
    found = [next(rest) if len(one.marks) == rank else one for one in inputs]
    return found, full[0].marks


def aligned(
    caller: str, values: Sequence[Marked], axes: Sequence[int], *, repeats: bool = True
) -> list[Marked]:
    """Brings the entries of one axis of each array to the same places, and marks them there.

    Args:
        caller: what is called, for errors.
        values: the arrays.
        axes: of each array, one.
        repeats: whether one entry stands for all of an axis.

    Raises:
        SelectionError: as in `merged`.
    """
    pairs = list(zip(values, axes, strict=True))
    own = [mark for value, axis in pairs if (mark := value.marks[axis]) is not None]
    if not own:
        return list(values)
    for value, axis in pairs:
        one = axis in value.repeated or value.array.shape[axis] == 1
        if value.marks[axis] is None and not (repeats and one):
            raise SelectionError(
                f"{caller}, of the entries that a mask took of one array and of all entries of another one (take those of both: "
                "x[mask] * y[mask]),"
            )
    if all(mark.same(own[0]) for mark in own):
        return [value.with_mark(axis, own[0]) for value, axis in pairs]
    count, unfit = own[0].count(), any_unfit(own)
    for mark in own[1:]:
        other = mark.count()
        differs = count != other
        if repeats:
            differs = differs & (count != 1) & (other != 1)
            count = jnp.where(count == 1, other, count)
        unfit = differs if unfit is None else unfit | differs
    both = Selection(jnp.arange(own[0].size) < count, unfit=unfit)
    moved = [(compacted(value, axis), axis) for value, axis in pairs]
    if repeats:
        moved = [(_repeating(value, axis), axis) for value, axis in moved]
    return [value.with_mark(axis, both) for value, axis in moved]


def _repeating(value: Marked, axis: int) -> Marked:
    """Repeats the entry that counts, at the beginning of an axis, if it is the only one."""
    mark = value.marks[axis]
    if mark is None:
        return value
    first = jax.lax.slice_in_dim(value.array, 0, 1, axis=axis)
    return value._replace(array=jnp.where(mark.count() == 1, first, value.array))


def any_unfit(marks: Iterable[Selection | None]) -> Any:
    """Tells whether a selection is of masks whose numbers of entries do not fit; None if each is of one mask."""
    found = None
    for mark in marks:
        if mark is not None and mark.unfit is not None:
            found = mark.unfit if found is None else found | mark.unfit
    return found


def checked(caller: str, result: Any, marks: Iterable[Selection | None]) -> Any:
    """Makes NaN of what was reduced along axes with selections that do not fit.

    Raises:
        SelectionError: the result is of integers or booleans, which have no NaN.
    """
    unfit = any_unfit(marks)
    if unfit is None:
        return result
    if not jnp.issubdtype(result.dtype, jnp.inexact):
        check_one_mask(caller, marks)
    return result * jnp.where(unfit, jnp.nan, 1).astype(result.dtype)


def check_one_mask(caller: str, marks: Iterable[Selection | None]) -> None:
    """Checks that how many entries there are is known to be the same of all arrays that they were computed of.

    Raises:
        SelectionError: they were computed of the entries that different masks took.
    """
    if any_unfit(marks) is not None:
        raise SelectionError(
            f"{caller}, without fractions and of what was computed of the entries of different masks, which may be of different numbers (use the "
            "same mask for both: mask = x > 0, then x[mask] and y[mask]),"
        )


# Where functions have finite derivatives.
_HARMLESS = 0.5
_HARMLESS_OF = {"acosh": 2}


def settled(name: str, inputs: Sequence[Marked], marks: tuple[Selection | None, ...]) -> list[Any]:
    """Replaces entries that do not count, of all operands, so that neither results nor gradients at them are infinite or NaN.

    Args:
        name: of the operation.
        inputs: its operands, whose entries are at the same places.
        marks: of its result.
    """
    shape = next(one.array.shape for one in inputs if len(one.marks) == len(marks))
    found = []
    for one in inputs:
        array = one.array
        if jnp.ndim(array) < len(marks):
            # Numbers of the program itself have no gradients.
            if not (isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jnp.inexact)):
                found.append(array)
                continue
            array = jnp.broadcast_to(array, shape)
        fractions = jnp.issubdtype(array.dtype, jnp.inexact)
        number = _HARMLESS_OF.get(name, _HARMLESS) if fractions else 1
        found.append(filled(Marked(array, marks), number))
    return found
