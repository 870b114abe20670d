"""Operators of ragged tensors, which work on their values."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import host_array
from frontends.tf.ragged import partitions


def _of_two(function: Callable[..., Any], *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def call(self: Any, other: HostLike) -> Any:
        return binary(function, other, self) if swapped else binary(function, self, other)

    return call


def _of_one(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda self: self.with_flat_values(function(self.flat_values))


class Operators:
    """Operators of classes that have `flat_values`, as `RaggedTensor` has them."""

    __slots__ = ()
    __add__, __radd__ = _of_two(operator.add), _of_two(operator.add, swapped=True)
    __sub__, __rsub__ = _of_two(operator.sub), _of_two(operator.sub, swapped=True)
    __mul__, __rmul__ = _of_two(operator.mul), _of_two(operator.mul, swapped=True)
    __truediv__, __rtruediv__ = _of_two(operator.truediv), _of_two(operator.truediv, swapped=True)
    __floordiv__ = _of_two(operator.floordiv)
    __rfloordiv__ = _of_two(operator.floordiv, swapped=True)
    __mod__, __rmod__ = _of_two(operator.mod), _of_two(operator.mod, swapped=True)
    __pow__, __rpow__ = _of_two(operator.pow), _of_two(operator.pow, swapped=True)
    __and__, __rand__ = _of_two(operator.and_), _of_two(operator.and_, swapped=True)
    __or__, __ror__ = _of_two(operator.or_), _of_two(operator.or_, swapped=True)
    __xor__, __rxor__ = _of_two(operator.xor), _of_two(operator.xor, swapped=True)
    __eq__, __ne__ = _of_two(operator.eq), _of_two(operator.ne)
    __lt__, __le__ = _of_two(operator.lt), _of_two(operator.le)
    __gt__, __ge__ = _of_two(operator.gt), _of_two(operator.ge)
    __abs__, __neg__, __invert__ = map(_of_one, (operator.abs, operator.neg, operator.invert))
    __hash__ = object.__hash__


def binary(function: Callable[..., Any], first: HostLike, second: HostLike) -> Any:
    """Calls a function of two arrays on ragged tensors, or one and an array that is broadcast to it.

    Raises:
        ValueError: the rows do not fit.
    """
    if is_ragged(first) and is_ragged(second):
        if first.ragged_rank == second.ragged_rank:
            first, second = _of_ones(first, second), _of_ones(second, first)
            check_same_rows([first, second])
            return first.with_flat_values(function(first.flat_values, second.flat_values))
        raise ValueError(
            f"Ragged tensors of the ragged ranks {first.ragged_rank} and {second.ragged_rank} do not broadcast here."
        )
    if is_ragged(first):
        return first.with_flat_values(function(first.flat_values, broadcast(second, first)))
    return second.with_flat_values(function(broadcast(first, second), second.flat_values))


def is_ragged(value: HostLike) -> bool:
    """Tells whether a value is a ragged tensor."""
    return isinstance(value, Operators)


def count_of(values: HostLike) -> int:
    """Tells how many rows or entries values have."""
    return values.row_count if is_ragged(values) else len(values)


def _of_ones(value: HostLike, other: HostLike) -> Any:
    """Repeats the entries of rows that have one each, where the other's rows have more."""
    if value.uniform_row_length != 1 or value.ragged_rank > 1 or value.row_count != other.row_count:
        return value
    return other.with_values(
        np.repeat(np.asarray(value.flat_values), np.asarray(other.row_lengths()), axis=0)
    )


def broadcast(value: HostLike, ragged: Any) -> Any:
    """Takes from an array the entry that belongs to each value of a ragged tensor.

    Raises:
        ValueError: their shapes do not fit.
    """
    if isinstance(value, int | float | complex | bool | str | bytes):
        return value
    array = host_array(value, "an operand of a ragged tensor")
    depth, rank = ragged.ragged_rank + 1, ragged.ndim
    if array.ndim <= rank - depth:
        return array
    if array.ndim > rank:
        raise ValueError(
            f"An array of shape {array.shape} does not broadcast to a ragged tensor of shape {ragged.shape}."
        )
    array = array.reshape(*[1] * (rank - array.ndim), *array.shape)
    where = partitions.coordinates([np.diff(splits) for splits in ragged.nested_row_splits])
    index = []
    for axis, size in enumerate(array.shape[:depth]):
        if size != 1 and size != ragged.shape[axis]:  # that of a ragged dimension is None
            raise ValueError(
                f"Unable to broadcast: dimension size mismatch in dimension {axis}: an array of shape {array.shape}, and a ragged "
                f"tensor of shape {ragged.shape}."
            )
        index.append(np.zeros(len(where), int) if size == 1 else where[:, axis])
    return array[tuple(index)]


def check_same_rows(found: Sequence[Any]) -> None:
    """Checks that ragged tensors have the same rows.

    Raises:
        ValueError: they have others.
    """
    splits = [[np.asarray(each).tolist() for each in one.nested_row_splits] for one in found]
    if any(one != splits[0] for one in splits):
        raise ValueError(
            "Inputs must have identical ragged splits: expected ragged tensors of the same rows, got row lengths "
            f"{[np.asarray(one.row_lengths()).tolist() for one in found]}."
        )
