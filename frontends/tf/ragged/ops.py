"""Functions that make and change ragged tensors, on the host."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from frontends.tf._typing import DTypeLike, HostLike, Nested, TensorLike
from frontends.tf.data.host_arrays import host_array, integers, shown
from frontends.tf.dtypes import as_dtype
from frontends.tf.ragged import partitions
from frontends.tf.ragged.joining import joined
from frontends.tf.ragged.operators import check_same_rows
from frontends.tf.ragged.ragged_tensor import RaggedTensor


def constant(
    pylist: HostLike,
    dtype: DTypeLike = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> Any:
    """Makes a ragged tensor of nested lists.

    Args:
        pylist: lists of lists, all of one depth.
        dtype: of the values.
        ragged_rank: how many dimensions are ragged; None takes all but the outermost one, and those of `inner_shape`.
        inner_shape: of the entries of the innermost ragged dimension.
        row_splits_dtype: accepted; splits have int64.

    Returns:
        A ragged tensor; an array in host memory, if no dimension is ragged.

    Raises:
        ValueError: the lists have different depths, or the arguments do not fit them.

    Examples:
        >>> from frontends import tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).shape
        TensorShape([3, None])

    Source: `tf.ragged.constant`.
    """
    depth = _depth(pylist)
    inner = None if inner_shape is None else tuple(np.atleast_1d(np.asarray(inner_shape, int)))
    if depth == 0:
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}"
            )
        if inner:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner)}"
            )
        return shown(host_array(pylist, "tf.ragged.constant: pylist", dtype))
    if ragged_rank is None:
        ragged_rank = builtins.max(0, depth - 1 - (len(inner) if inner is not None else 0))
    if inner is None and ragged_rank >= depth and _leaves(pylist):
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}: its depth is {depth}."
        )
    if inner is not None and ragged_rank + len(inner) + 1 != depth and _leaves(pylist):
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and inner_shape={inner}."
        )
    levels, rows = [], [pylist]
    for _ in builtins.range(ragged_rank + 1):
        levels.append(np.array([len(row) for row in rows], np.int64))
        rows = [item for row in rows for item in row]
    if dtype is None and not _leaves(rows):
        dtype = "float32"
    try:
        flat = host_array(rows, "tf.ragged.constant: pylist", dtype)
    except ValueError as error:
        raise ValueError(f"Invalid pylist: {error}") from None
    if inner is not None:
        flat = flat.reshape(-1, *inner)
    if not ragged_rank:
        return shown(flat)
    made: Any = flat
    for lengths in reversed(levels[1:]):
        made = RaggedTensor(made, partitions.splits_of(lengths))
    return made


def _depth(value: HostLike) -> int:
    if isinstance(value, np.ndarray):
        return value.ndim
    if not isinstance(value, list | tuple):
        return 0
    depths = [_depth(item) for item in value]
    if any((depth == 0) != (depths[0] == 0) for depth in depths) or (
        len({*depths}) > 1 and _leaf_depths(value) is None
    ):
        raise ValueError("all scalar values must have the same nesting depth")
    return 1 + builtins.max(depths, default=0)


def _leaf_depths(value: HostLike) -> int | None:
    """Returns the depth of all scalars, None if they differ."""
    found: set[int] = set()

    def walk(item: Any, depth: int) -> None:
        if isinstance(item, list | tuple):
            for one in item:
                walk(one, depth + 1)
        else:
            found.add(depth + np.ndim(item))

    walk(value, 0)
    return None if len(found) > 1 else builtins.max(found, default=0)


def _leaves(value: HostLike) -> list[Any]:
    return [leaf for leaf in jax.tree.leaves(value) if np.size(leaf)]


def range(
    starts: TensorLike,
    limits: TensorLike = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> RaggedTensor:
    """Makes a row of numbers for each pair of a start and a limit.

    Args:
        starts: the first numbers; with `limits=None`, the limits.
        limits: where the rows end.
        deltas: from one number to the next.
        dtype: of the numbers.
        row_splits_dtype: accepted; splits have int64.

    Raises:
        ValueError: a delta is zero.

    Source: `tf.ragged.range`.
    """
    first, last = (0, starts) if limits is None else (starts, limits)
    arrays = [host_array(one, "tf.ragged.range") for one in (first, last, deltas)]
    kind = np.result_type(*arrays) if dtype is None else as_dtype(dtype).dtype
    if any(one.dtype == np.int32 for one in arrays) and kind == np.float64:
        kind = np.dtype(np.float32)
    columns = np.broadcast_arrays(*(np.atleast_1d(one) for one in arrays))
    if (columns[2] == 0).any():
        raise ValueError("Requires delta != 0")
    rows = [np.arange(*one, dtype=kind) for one in zip(*columns, strict=True)]
    return RaggedTensor(
        np.concatenate([np.empty(0, kind), *rows]),
        partitions.splits_of(np.array([len(row) for row in rows], np.int64)),
    )


def map_flat_values(op: Callable[..., Any], *args: Nested, **kwargs: Nested) -> Any:
    """Calls a function with the values of ragged tensors, and puts its result in their place.

    Args:
        op: takes arrays; returns one with as many entries.
        *args: of `op`; ragged tensors among them have the same rows.
        **kwargs: likewise.

    Returns:
        A ragged tensor; what `op` returns, if none is among the arguments.

    Raises:
        ValueError: the ragged tensors have different rows, or the result has another number of entries.

    Source: `tf.ragged.map_flat_values`.
    """

    def is_ragged(leaf: Any) -> bool:
        return isinstance(leaf, RaggedTensor)

    found = [leaf for leaf in jax.tree.leaves((args, kwargs), is_leaf=is_ragged) if is_ragged(leaf)]
    if not found:
        return op(*args, **kwargs)
    check_same_rows(found)
    flat_args, flat_kwargs = jax.tree.map(
        lambda leaf: leaf.flat_values if is_ragged(leaf) else leaf,
        (args, kwargs),
        is_leaf=is_ragged,
    )
    return found[0].with_flat_values(op(*flat_args, **flat_kwargs))


def boolean_mask(data: HostLike, mask: HostLike, name: str | None = None) -> Any:
    """Takes the entries that a mask marks, and keeps the rows that they are in.

    Args:
        data: an array or a ragged tensor.
        mask: booleans, of the first dimensions of `data`.

    Returns:
        A ragged tensor with as many dimensions; an array, if mask and data have none that is ragged.

    Raises:
        ValueError: the mask has no dimension, or other rows than `data`.

    Examples:
        >>> from frontends import tf
        >>> tf.ragged.boolean_mask(
        ...     [[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3]
        ... ).to_list()
        [[1, 3], []]

    Source: `tf.ragged.boolean_mask`.
    """
    given = data if isinstance(data, RaggedTensor) else host_array(data, "boolean_mask: data")
    marks = mask if isinstance(mask, RaggedTensor) else host_array(mask, "boolean_mask: mask")
    if np.ndim(marks) == 0 and not isinstance(marks, RaggedTensor):
        raise ValueError("mask cannot be scalar.")
    if marks.dtype != bool and marks.shape[0]:
        raise TypeError(f"boolean_mask: mask must be bool, got {marks.dtype}.")
    found = _masked(given, marks)
    return found if isinstance(found, RaggedTensor) else shown(found)


def _masked(data: HostLike, mask: HostLike) -> Any:
    if isinstance(mask, np.ndarray) and mask.ndim == 1:
        if len(mask) != (data.row_count if isinstance(data, RaggedTensor) else len(data)):
            raise ValueError(
                f"boolean_mask: the mask has {len(mask)} entries, and the data has another number of rows."
            )
        chosen = np.flatnonzero(mask)
        return data.take(chosen) if isinstance(data, RaggedTensor) else data[chosen]
    rows, marks = (
        one if isinstance(one, RaggedTensor) else RaggedTensor.from_tensor(one)
        for one in (data, mask)
    )
    if rows.lengths.tolist() != marks.lengths.tolist():
        raise ValueError(
            f"boolean_mask: mask and data have different row lengths: {marks.lengths.tolist()} and {rows.lengths.tolist()}."
        )
    inner = marks.values if isinstance(marks.values, RaggedTensor) else np.asarray(marks.values)
    lengths = rows.lengths
    if isinstance(inner, np.ndarray) and inner.ndim == 1:
        counted = np.bincount(
            partitions.rows_of(marks.lengths)[inner.astype(bool)], minlength=len(lengths)
        )
        lengths = counted.astype(np.int64)
    values = rows.values if isinstance(rows.values, RaggedTensor) else np.asarray(rows.values)
    return RaggedTensor(_masked(values, inner), partitions.splits_of(lengths))


def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Joins arrays or ragged tensors along a new dimension; their sizes may differ.

    Args:
        values: of the same number of dimensions.
        axis: the new dimension.

    Returns:
        A ragged tensor; an array if the values are scalars, or arrays stacked along an axis other than 0.

    Raises:
        ValueError: there is none, or they have different numbers of dimensions.

    Source: `tf.ragged.stack`.
    """
    given = list(values) if isinstance(values, list | tuple) else [values]
    if not given:
        raise ValueError("values may not be empty.")
    parts = [
        one if isinstance(one, RaggedTensor) else host_array(one, "tf.ragged.stack")
        for one in given
    ]
    ranks = {part.ndim for part in parts}
    if len(ranks) > 1:
        raise ValueError(f"tf.ragged.stack: values must have the same rank, got {sorted(ranks)}.")
    rank = ranks.pop()
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank - 1}<=axis<{rank + 1}")
    axis %= rank + 1
    if rank == 0:
        return shown(np.stack(parts))
    if axis == 0:
        counts = np.array(
            [part.row_count if isinstance(part, RaggedTensor) else len(part) for part in parts]
        )
        ragged = [
            part
            if isinstance(part, RaggedTensor) or part.ndim < 2
            else RaggedTensor.from_tensor(part)
            for part in parts
        ]
        return RaggedTensor(joined(ragged), partitions.splits_of(counts))
    return concat([expand_dims(part, axis) for part in parts], axis)


def concat(values: Sequence[Any], axis: int) -> Any:
    """Joins ragged tensors, or arrays, along a dimension; `tf.concat` calls it.

    Raises:
        ValueError: the dimension does not exist, or the outer ones differ.
    """
    parts = [
        one if isinstance(one, RaggedTensor) else host_array(one, "tf.concat") for one in values
    ]
    ranks = {part.ndim for part in parts}
    if len(ranks) > 1:
        raise ValueError(f"tf.concat: values must have the same rank, got {sorted(ranks)}.")
    rank = ranks.pop()
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return _concat(parts, axis % rank)


def _concat(parts: list[Any], axis: int) -> Any:
    if not any(isinstance(part, RaggedTensor) for part in parts):
        return np.concatenate(parts, axis)
    if axis == 0:
        return joined(parts)
    ragged = [
        one if isinstance(one, RaggedTensor) else RaggedTensor.from_tensor(one) for one in parts
    ]
    if len({one.row_count for one in ragged}) > 1:
        raise ValueError(
            f"Input tensors have incompatible shapes: they have {[one.row_count for one in ragged]} rows."
        )
    if axis == 1:
        count, many = ragged[0].row_count, len(ragged)
        order = np.arange(many * count).reshape(many, count).T.reshape(-1)
        lengths = np.sum([one.lengths for one in ragged], axis=0)
        taken = joined(ragged).take(order)
        return RaggedTensor(taken._values, partitions.splits_of(lengths))
    check_same_rows([one.with_values(np.empty(int(one.row_splits[-1]))) for one in ragged])
    return ragged[0].with_values(_concat([one._values for one in ragged], axis - 1))


def expand_dims(value: HostLike, axis: int) -> Any:
    """Adds a dimension of size 1; `tf.expand_dims` calls it.

    Raises:
        ValueError: there is no such dimension.
    """
    if not isinstance(value, RaggedTensor):
        return np.expand_dims(value, axis)
    rank = value.ndim
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank - 1}<=axis<{rank + 1}")
    return value[(*([slice(None)] * (axis % (rank + 1))), None)]


def stack_dynamic_partitions(
    data: HostLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> RaggedTensor:
    """Puts the rows of data that belong together in rows.

    Args:
        data: an array or a ragged tensor.
        partitions: for each row of it, the row of the result.
        num_partitions: how many there are.

    Raises:
        ValueError: there is no such row.

    Source: `tf.ragged.stack_dynamic_partitions`.
    """
    rows = integers(partitions, "stack_dynamic_partitions: partitions").reshape(-1)
    count = int(num_partitions)
    if len(rows) and not 0 <= rows.min() <= rows.max() < count:
        raise ValueError(f"partitions must be from 0 to {count - 1}, got {rows.tolist()}.")
    order = np.argsort(rows, kind="stable")
    values = data.take(order) if isinstance(data, RaggedTensor) else host_array(data, "data")
    if not isinstance(values, RaggedTensor):
        values = values.reshape(-1, *values.shape[np.ndim(partitions) :])[order]
    return RaggedTensor.from_row_lengths(values, np.bincount(rows, minlength=count))


def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: DTypeLike = None
) -> Any:
    """Returns the number of each value's row.

    Args:
        splits: where rows begin, and the last one ends.
        out_type: dtype of the result.

    Source: `tf.ragged.row_splits_to_segment_ids`.
    """
    found = partitions.rows_of(np.diff(integers(splits, "row_splits_to_segment_ids: splits")))
    return shown(found if out_type is None else found.astype(as_dtype(out_type).dtype))


def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike = None,
    out_type: DTypeLike = None,
    name: str | None = None,
) -> Any:
    """Returns where rows begin, of the number of each value's row.

    Args:
        segment_ids: in ascending order.
        num_segments: how many rows there are; None takes the last one that has a value.
        out_type: dtype of the result.

    Raises:
        ValueError: the ids are no vector of integers from 0.

    Source: `tf.ragged.segment_ids_to_row_splits`.
    """
    rows = integers(segment_ids, "segment_ids_to_row_splits: segment_ids")
    count = 0 if num_segments is None else int(integers(num_segments, "num_segments"))
    found = partitions.splits_of(np.bincount(rows, minlength=count))
    return shown(found if out_type is None else found.astype(as_dtype(out_type).dtype))
