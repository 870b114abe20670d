"""`tf.sets`: sets in the last dimension of arrays and sparse tensors, on the host."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf import _names
from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import host_array, shown
from frontends.tf.sparse.sparse_tensor import SparseTensor

_Sets = dict[tuple[int, ...], set[Any]]


def size(a: SparseTensor, validate_indices: bool = True) -> Any:
    """Counts the different entries of each row.

    Args:
        a: a sparse tensor.
        validate_indices: accepted; the order does not matter here.

    Returns:
        int32, of the shape without the last dimension.

    Raises:
        TypeError: it is no sparse tensor.

    Source: `tf.sets.size`.
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {type(a).__name__}.")
    sets, shape, _ = _sets(a)
    found = np.zeros(shape, np.int32)
    for where, members in sets.items():
        found[where] = len(members)
    return shown(found)


def intersection(a: HostLike, b: HostLike, validate_indices: bool = True) -> SparseTensor:
    """Finds what is in both of two sets, for each pair of rows.

    Args:
        a: an array or a sparse tensor.
        b: likewise, of the same shape but for the last dimension.
        validate_indices: accepted; the order does not matter here.

    Returns:
        A sparse tensor with the entries in order.

    Raises:
        ValueError: the shapes do not fit.

    Source: `tf.sets.intersection`.
    """
    return _combined(a, b, set.intersection)


def union(a: HostLike, b: HostLike, validate_indices: bool = True) -> SparseTensor:
    """Finds what is in one of two sets at least; see `intersection`.

    Source: `tf.sets.union`.
    """
    return _combined(a, b, set.union)


def difference(
    a: HostLike, b: HostLike, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """Finds what is in the first of two sets and not in the second; see `intersection`.

    Args:
        a: an array or a sparse tensor.
        b: likewise.
        aminusb: False for what is in the second and not in the first.
        validate_indices: accepted; the order does not matter here.

    Source: `tf.sets.difference`.
    """
    return _combined(a, b, set.difference) if aminusb else _combined(b, a, set.difference)


def _sets(value: HostLike) -> tuple[_Sets, tuple[int, ...], np.dtype]:
    """Returns the sets by their place, the shape that these have, and the dtype of the members."""
    sets: _Sets = {}
    if isinstance(value, SparseTensor):
        values = np.asarray(value.values)
        outer = tuple(np.asarray(value.dense_shape)[:-1].tolist())
        for where, member in zip(
            np.asarray(value.indices)[:, :-1].tolist(), values.tolist(), strict=True
        ):
            sets.setdefault(tuple(where), set()).add(member)
        return sets, outer, values.dtype
    array = host_array(value, "tf.sets")
    if array.ndim < 2:
        raise ValueError(
            f"Invalid rank: sets need two dimensions at least, got shape {array.shape}."
        )
    for where in np.ndindex(array.shape[:-1]):
        sets[where] = set(array[where].tolist())
    return sets, array.shape[:-1], array.dtype


def _combined(
    a: HostLike, b: HostLike, combine: Callable[[set[Any], set[Any]], set[Any]]
) -> SparseTensor:
    first, shape, dtype = _sets(a)
    second, other, other_dtype = _sets(b)
    if shape != other:
        raise ValueError(f"Mismatched group shapes: the sets have the shapes {shape} and {other}.")
    if dtype != other_dtype:
        raise TypeError(f"Types don't match, {dtype} vs {other_dtype}.")
    indices, values, largest = [], [], 0
    for where in sorted({*first, *second}):
        members = sorted(combine(first.get(where, set()), second.get(where, set())))
        indices += [(*where, place) for place in range(len(members))]
        values += members
        largest = max(largest, len(members))
    found = np.empty(len(values), dtype)
    found[:] = values
    where = np.array(indices, np.int64).reshape(len(values), len(shape) + 1)
    return SparseTensor(where, found, [*shape, largest])


__getattr__, __dir__ = _names.attributes("tf.sets", _names.defined_in(__name__))
