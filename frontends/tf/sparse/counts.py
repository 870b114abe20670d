"""`tf.sparse.bincount`: how often each whole number comes, without the numbers that do not come."""

from typing import Any

import numpy as np

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.sparse.sparse_tensor import SparseTensor
from spmd.input.pipeline import to_element


def bincount(
    values: HostLike,
    weights: HostLike = None,
    axis: int | None = 0,
    minlength: TensorLike = None,
    maxlength: TensorLike = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Counts how often each whole number comes, in all or in each row, on the host.

    Args:
        values: an array, a sparse tensor or a ragged one, of numbers from 0 on.
        weights: what each counts, in the same form; None means 1.
        axis: 0 or None counts all together, as those of a vector always are; -1 each row of a matrix.
        minlength: of the result at least.
        maxlength: of the result, whatever `minlength` is; larger numbers are left out.
        binary_output: whether to tell only which numbers come.

    Raises:
        ValueError: `axis` is another one, there are weights beside `binary_output`, or a number is negative.

    Source: `tf.sparse.bincount`.
    """
    if axis not in (0, None, -1) or (weights is not None and binary_output):
        raise ValueError(
            f"tf.sparse.bincount: expected axis 0 or -1, and no weights beside binary_output, got axis={axis}."
        )
    by_row = axis == -1 and _axes(values) > 1
    rows, numbers = _entries(values)
    each = None if weights is None else _entries(weights)[1]
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"tf.sparse.bincount: input must be non-negative, got {numbers.min()}.")
    rows = rows if by_row else np.zeros_like(rows)
    length = max(int(numbers.max(initial=0)) + 1, int(minlength or 0))
    if maxlength is not None:
        length = int(maxlength)
        kept = numbers < length
        rows, numbers = rows[kept], numbers[kept]
        each = None if each is None else each[kept]
    places, inverse = np.unique(np.stack([rows, numbers], 1), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    if each is None:
        totals: Any = np.bincount(inverse, minlength=len(places)).astype(numbers.dtype)
        totals = np.minimum(totals, 1) if binary_output else totals
    else:
        totals = np.bincount(inverse, each, len(places)).astype(each.dtype)
    if by_row:
        return SparseTensor(places, totals, [_row_count(values), length])
    return SparseTensor(places[:, 1:], totals, [length])


def _entries(values: HostLike) -> tuple[np.ndarray, np.ndarray]:
    """Lists the row and the value of each entry."""
    if isinstance(values, SparseTensor):
        places = np.asarray(values.indices)
        return places[:, 0], np.asarray(values.values)
    if isinstance(values, RaggedTensor):
        lengths = np.asarray(values.row_lengths())
        return np.repeat(np.arange(len(lengths)), lengths), np.asarray(values.flat_values)
    array = np.asarray(to_element(values))
    if array.ndim < 2:
        return np.zeros(array.size, np.int64), array.reshape(-1)
    width = int(np.prod(array.shape[1:]))
    return np.repeat(np.arange(len(array)), width), array.reshape(-1)


def _axes(values: HostLike) -> int:
    if isinstance(values, SparseTensor):
        return len(np.asarray(values.dense_shape))
    return 2 if isinstance(values, RaggedTensor) else np.ndim(values)


def _row_count(values: HostLike) -> int:
    if isinstance(values, SparseTensor):
        return int(np.asarray(values.dense_shape)[0])
    if isinstance(values, RaggedTensor):
        return len(np.asarray(values.row_lengths()))
    return len(np.asarray(values))
