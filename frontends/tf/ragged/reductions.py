"""Reductions of ragged tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf._typing import Axis
from frontends.tf.data.host_arrays import shown
from frontends.tf.ops.convert import static_axes
from frontends.tf.ragged import partitions
from frontends.tf.ragged.joining import joined
from frontends.tf.ragged.ops import expand_dims
from frontends.tf.ragged.ragged_tensor import RaggedTensor

# Reduces values to one for each row: takes the values, the row of each, and the number of rows.
OfRows = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def reduced(
    value: RaggedTensor,
    axis: Axis,
    keepdims: bool,
    of_rows: OfRows,
    of_array: Callable[[Any, Any], Any],
) -> Any:
    """Reduces dimensions.

    Args:
        value: the ragged tensor.
        axis: the dimension, or several; None means all.
        keepdims: whether they stay, with size 1.
        of_rows: reduces the values of rows.
        of_array: reduces dimensions of an array.

    Raises:
        ValueError: there is no such dimension.
    """
    given = static_axes(axis)
    rank = value.ndim
    if given is None:
        found = of_array(value.flat_values, None)
        return shown(np.reshape(found, [1] * rank) if keepdims else np.asarray(found))
    axes = [given] if isinstance(given, int) else list(given)
    if any(not -rank <= one < rank for one in axes):
        raise ValueError(f"axis={axis} out of bounds: the ragged tensor has {rank} dimensions.")
    found: Any = value
    for one in sorted({one % rank for one in axes}, reverse=True):
        if isinstance(found, RaggedTensor):
            found = _along(found, one, of_rows, of_array)
            if keepdims:
                found = expand_dims(found, one)
        else:
            found = np.asarray(of_array(found, one))
            if keepdims:
                found = np.expand_dims(found, one)
    return found if isinstance(found, RaggedTensor) else shown(np.asarray(found))


def _along(
    value: RaggedTensor, axis: int, of_rows: OfRows, of_array: Callable[[Any, Any], Any]
) -> Any:
    inner = value._values
    if axis > 1:
        if isinstance(inner, RaggedTensor):
            return value.with_values(_along(inner, axis - 1, of_rows, of_array))
        return value.with_values(np.asarray(of_array(inner, axis - 1)))
    lengths = value.lengths
    if axis == 1:
        if not isinstance(inner, RaggedTensor):
            return of_rows(inner, partitions.rows_of(lengths), len(lengths))
        rows = [_along(value.row(number), 0, of_rows, of_array) for number in range(len(lengths))]
        counts = np.array([_count(row) for row in rows], np.int64)
        # Without rows, there are no values to join but those of none.
        values = joined(rows) if rows else _along(inner, 0, of_rows, of_array)
        return RaggedTensor(values, partitions.splits_of(counts))
    longest = int(lengths.max(initial=0))
    if not isinstance(inner, RaggedTensor):
        return of_rows(inner, partitions.places(lengths), longest)
    columns = []
    # The first column gives the dtype and the inner dimensions, also if it is empty.
    for place in range(max(longest, 1)):
        parts = inner.take(value._splits[:-1][lengths > place] + place)
        columns.append(_along(parts, 0, of_rows, of_array))
    counts = np.array([_count(column) for column in columns[:longest]], np.int64)
    return RaggedTensor(joined(columns), partitions.splits_of(counts))


def _count(value: Any) -> int:
    return value.row_count if isinstance(value, RaggedTensor) else len(value)


def rows_by(name: str) -> OfRows | None:
    """Returns how a reduction of TensorFlow's reduces rows; None for those that ragged tensors have not."""
    return _ROWS.get(name)


def mean(
    value: RaggedTensor, axis: Axis, keepdims: bool, of_array: Callable[[Any, Any], Any]
) -> Any:
    """Returns the means along dimensions; see `reduced`.

    Args:
        value: the ragged tensor.
        axis: the dimension, or several; None means all.
        keepdims: whether they stay, with size 1.
        of_array: takes the mean of an array's dimensions.
    """
    if axis is None:
        return reduced(value, None, keepdims, _sum, of_array)
    ones = value.with_flat_values(np.ones_like(value.flat_values))
    total, count = (
        reduced(one, axis, keepdims, _sum, lambda values, at: np.sum(values, at, values.dtype))
        for one in (value, ones)
    )
    with np.errstate(all="ignore"):
        return total / count


def variance(
    value: RaggedTensor, axis: Axis, keepdims: bool, of_array: Callable[[Any, Any], Any]
) -> Any:
    """Returns the variances along dimensions; see `mean`."""
    first = mean(value, axis, keepdims, of_array)
    found = mean(value * value, axis, keepdims, of_array) - first * first
    # Rounding makes it less than zero, whose root is no number; TensorFlow sets it to zero as well.
    if isinstance(found, RaggedTensor):
        return found.with_flat_values(np.maximum(found.flat_values, 0))
    return shown(np.maximum(found, 0))


def _sum(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    return _at(np.add, values, rows, count, values.dtype.type(0))


def _at(ufunc: Any, values: np.ndarray, rows: np.ndarray, count: int, start: Any) -> np.ndarray:
    found = np.full((count, *values.shape[1:]), start, values.dtype)
    ufunc.at(found, rows, values)
    return found


def _limit(dtype: np.dtype, which: str) -> Any:
    return getattr(np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype), which)  # type: ignore[call-overload]


_ROWS: dict[str, OfRows] = {
    "reduce_all": lambda v, r, n: _at(np.logical_and, v, r, n, True),
    "reduce_any": lambda v, r, n: _at(np.logical_or, v, r, n, False),
    "reduce_max": lambda v, r, n: _at(np.maximum, v, r, n, _limit(v.dtype, "min")),
    "reduce_min": lambda v, r, n: _at(np.minimum, v, r, n, _limit(v.dtype, "max")),
    "reduce_prod": lambda v, r, n: _at(np.multiply, v, r, n, 1),
    "reduce_sum": _sum,
}
