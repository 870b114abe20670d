"""Functions that make sparse tensors of other sparse tensors, on the host."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from frontends.tf._typing import Axis, DTypeLike, HostLike, Nested, ShapeLike, TensorLike
from frontends.tf.data.host_arrays import host_array, integers, shown
from frontends.tf.dtypes import as_dtype
from frontends.tf.sparse.ops import checked, reorder
from frontends.tf.sparse.sparse_tensor import SparseTensor


class _Parts(NamedTuple):
    """The arrays of a sparse tensor."""

    indices: np.ndarray
    values: np.ndarray
    shape: np.ndarray


def _parts(value: HostLike, op_name: str) -> _Parts:
    sparse = checked(value, op_name)
    return _Parts(*map(np.asarray, (sparse.indices, sparse.values, sparse.dense_shape)))


class FilledRows(NamedTuple):
    """A sparse tensor with an entry in each row, and which rows had none."""

    output: SparseTensor
    empty_row_indicator: Any


def eye(
    num_rows: int,
    num_columns: int | None = None,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> SparseTensor:
    """Makes a matrix with ones on its diagonal.

    Source: `tf.sparse.eye`.
    """
    columns = num_rows if num_columns is None else num_columns
    count = min(int(num_rows), int(columns))
    where = np.stack([np.arange(count)] * 2, axis=1)
    return SparseTensor(where, np.ones(count, as_dtype(dtype).dtype), [num_rows, columns])


def reshape(sp_input: SparseTensor, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """Gives a sparse tensor another shape, -1 for the size that is left.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: the shape has another number of entries.

    Source: `tf.sparse.reshape`.
    """
    indices, values, before = _parts(sp_input, "reshape")
    wanted = integers(shape, "tf.sparse.reshape: shape").reshape(-1)
    if (wanted == -1).sum() > 1:
        raise ValueError("only one output dimension may be -1, not both")
    count = int(np.prod(before))
    rest = int(np.prod(wanted[wanted != -1]))
    if -1 in wanted:
        if not rest or count % rest:
            raise ValueError(
                f"Input to reshape is a SparseTensor with {count} dense values, but the requested shape requires a multiple of {rest}"
            )
        wanted = np.where(wanted == -1, count // rest, wanted)
    if int(np.prod(wanted)) != count:
        raise ValueError(
            f"Input to reshape is a tensor with {count} dense values, but the requested shape has {int(np.prod(wanted))}"
        )
    flat: Any = (
        np.ravel_multi_index(tuple(indices.T), tuple(before)) if len(indices) else np.empty(0, int)
    )
    where = np.stack(np.unravel_index(flat, tuple(wanted)), axis=1) if len(flat) else None
    return SparseTensor(np.empty((0, len(wanted))) if where is None else where, values, wanted)


def transpose(
    sp_input: SparseTensor, perm: TensorLike = None, name: str | None = None
) -> SparseTensor:
    """Permutes dimensions, or reverses them.

    Raises:
        TypeError: `sp_input` is no sparse tensor.

    Source: `tf.sparse.transpose`.
    """
    indices, values, shape = _parts(sp_input, "transpose")
    order = np.arange(len(shape))[::-1] if perm is None else integers(perm, "transpose: perm")
    return reorder(SparseTensor(indices[:, order], values, shape[order]))


def expand_dims(
    sp_input: SparseTensor, axis: int | None = None, name: str | None = None
) -> SparseTensor:
    """Adds a dimension of size 1; at the end, if no `axis` is given.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: there is no such dimension.

    Source: `tf.sparse.expand_dims`.
    """
    indices, values, shape = _parts(sp_input, "expand_dims")
    at = -1 if axis is None else int(axis)
    rank = len(shape)
    if not -rank - 1 <= at <= rank:
        raise ValueError(f"axis={at} out of bounds: expected {-rank - 1}<=axis<={rank}")
    at %= rank + 1
    return SparseTensor(np.insert(indices, at, 0, axis=1), values, np.insert(shape, at, 1))


def slice(
    sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None
) -> SparseTensor:
    """Takes a block; what of it is outside of the shape is left out.

    Raises:
        TypeError: `sp_input` is no sparse tensor.

    Source: `tf.sparse.slice`.
    """
    indices, values, shape = _parts(sp_input, "slice")
    first, count = (integers(one, "tf.sparse.slice").reshape(-1) for one in (start, size))
    kept = ((indices >= first) & (indices < first + count)).all(axis=1)
    sizes = np.maximum(np.minimum(count, shape - first), 0)
    return SparseTensor(indices[kept] - first, values[kept], sizes)


def split(
    sp_input: SparseTensor, num_split: int, axis: int, name: str | None = None
) -> list[SparseTensor]:
    """Splits a dimension into parts of equal size; the first ones are larger by one where that does not go.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: there is no such dimension, or it has fewer entries.

    Source: `tf.sparse.split`.
    """
    shape = _parts(sp_input, "split").shape
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis={axis} out of bounds: the tensor has {len(shape)} dimensions.")
    axis %= len(shape)
    if not 1 <= num_split <= shape[axis]:
        raise ValueError(f"num_split must be from 1 to {shape[axis]}, got {num_split}.")
    base, more = divmod(int(shape[axis]), num_split)
    sizes = [base + (number < more) for number in range(num_split)]
    made, at = [], 0
    for size in sizes:
        start, wanted = np.zeros_like(shape), shape.copy()
        start[axis], wanted[axis] = at, size
        made.append(slice(sp_input, start, wanted))
        at += size
    return made


def concat(
    axis: int,
    sp_inputs: Sequence[SparseTensor],
    expand_nonconcat_dims: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Joins sparse tensors along a dimension.

    Args:
        axis: the dimension.
        sp_inputs: the sparse tensors.
        expand_nonconcat_dims: whether other dimensions may differ; the largest size counts.

    Raises:
        TypeError: one is no sparse tensor.
        ValueError: other dimensions differ.

    Source: `tf.sparse.concat`.
    """
    parts = [_parts(one, "concat") for one in sp_inputs]
    shapes = np.stack([part.shape for part in parts])
    rank = shapes.shape[1]
    if not -rank <= axis < rank:
        raise ValueError(f"Concat dimension must be in range [{-rank}, {rank}), got {axis}.")
    axis %= rank
    others = np.delete(shapes, axis, axis=1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        raise ValueError(f"Input shapes must match outside of axis {axis}, got {shapes.tolist()}.")
    offsets = np.cumsum(shapes[:, axis]) - shapes[:, axis]
    moved = []
    for part, offset in zip(parts, offsets, strict=True):
        where = part.indices.copy()
        where[:, axis] += offset
        moved.append(where)
    shape = shapes.max(axis=0)
    shape[axis] = shapes[:, axis].sum()
    values = np.concatenate([part.values for part in parts])
    return reorder(SparseTensor(np.concatenate(moved), values, shape))


def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Keeps the entries that a mask marks.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: the mask has another size.

    Source: `tf.sparse.retain`.
    """
    indices, values, shape = _parts(sp_input, "retain")
    kept = host_array(to_retain, "retain: to_retain", bool).reshape(-1)
    if len(kept) != len(values):
        raise ValueError(f"retain: expected {len(values)} booleans, got {len(kept)}.")
    return SparseTensor(indices[kept], values[kept], shape)


def fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> FilledRows:
    """Puts a value into the first column of each row that has none.

    Raises:
        TypeError: `sp_input` is no sparse tensor.

    Source: `tf.sparse.fill_empty_rows`.
    """
    indices, values, shape = _parts(sp_input, "fill_empty_rows")
    empty = np.bincount(indices[:, 0], minlength=int(shape[0])) == 0
    rows = np.flatnonzero(empty)
    where = np.zeros((len(rows), len(shape)), np.int64)
    where[:, 0] = rows
    kind = "string" if values.dtype.kind == "O" else values.dtype
    default = host_array(default_value, "fill_empty_rows: default_value", kind)[()]
    added = np.empty(len(rows), values.dtype)
    added[:] = default
    made = SparseTensor(np.concatenate([indices, where]), np.concatenate([values, added]), shape)
    return FilledRows(reorder(made), shown(empty))


def reset_shape(sp_input: SparseTensor, new_shape: TensorLike = None) -> SparseTensor:
    """Gives a sparse tensor a larger shape, with the entries where they are; None means the smallest one.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: the shape is too small.

    Source: `tf.sparse.reset_shape`.
    """
    indices, values, shape = _parts(sp_input, "reset_shape")
    if new_shape is None:
        return SparseTensor(
            indices, values, indices.max(axis=0, initial=-1) + 1 if len(indices) else shape * 0
        )
    wanted = integers(new_shape, "reset_shape: new_shape").reshape(-1)
    if len(wanted) != len(shape) or (wanted < shape).any():
        raise ValueError(
            f"reset_shape: expected a shape of at least {shape.tolist()}, got {wanted.tolist()}."
        )
    return SparseTensor(indices, values, wanted)


def to_indicator(sp_input: SparseTensor, vocab_size: TensorLike, name: str | None = None) -> Any:
    """Marks the values of each row: `result[..., value]` is True.

    Args:
        sp_input: integers.
        vocab_size: how many different values there can be.

    Returns:
        Booleans in host memory.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: its values are no integers, or out of range.

    Source: `tf.sparse.to_indicator`.
    """
    indices, values, shape = _parts(sp_input, "to_indicator")
    if values.dtype.kind not in "iu":
        raise ValueError(f"sp_ids.values must be integers, got {values.dtype}.")
    size = int(integers(vocab_size, "vocab_size"))
    if len(values) and not 0 <= values.min() <= values.max() < size:
        raise ValueError(
            f"to_indicator: values must be from 0 to {size - 1}, got {values.tolist()}."
        )
    found = np.zeros((*shape[:-1], size), bool)
    found[(*indices[:, :-1].T, values)] = True
    return shown(found)


def add(a: HostLike, b: HostLike, threshold: TensorLike = 0) -> Any:
    """Adds two tensors, of which one at least is sparse.

    Args:
        a: a sparse tensor or an array.
        b: likewise, of the same shape.
        threshold: of two sparse tensors, a sum of two entries whose absolute value is smaller is left out; entries of only one
            tensor stay.

    Returns:
        A sparse tensor; an array, if one of them is one.

    Raises:
        TypeError: none is sparse.
        ValueError: the shapes differ.

    Source: `tf.sparse.add`.
    """
    if not any(isinstance(one, SparseTensor) for one in (a, b)):
        raise TypeError(
            "tf.sparse.add: at least one input should be SparseTensor; do you mean tf.add()?"
        )
    if not all(isinstance(one, SparseTensor) for one in (a, b)):
        sparse, array = (a, b) if isinstance(a, SparseTensor) else (b, a)
        indices, values, _ = _parts(sparse, "add")
        found = np.array(host_array(array, "tf.sparse.add"))
        np.add.at(found, tuple(indices.T), values)
        return shown(found)
    return _merged(a, b, np.add, threshold=threshold)


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Takes the larger entry of two sparse tensors; what is missing counts as zero.

    Source: `tf.sparse.maximum`.
    """
    return _merged(sp_a, sp_b, np.maximum)


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Takes the smaller entry of two sparse tensors; what is missing counts as zero.

    Source: `tf.sparse.minimum`.
    """
    return _merged(sp_a, sp_b, np.minimum)


def _merged(a: HostLike, b: HostLike, combine: Any, threshold: TensorLike = None) -> SparseTensor:
    first, second = _parts(a, combine.__name__), _parts(b, combine.__name__)
    if first.shape.tolist() != second.shape.tolist():
        raise ValueError(
            f"Operands' shapes do not match: got {first.shape.tolist()} and {second.shape.tolist()}"
        )
    where, place = np.unique(
        np.concatenate([first.indices, second.indices]), axis=0, return_inverse=True
    )
    place = place.reshape(-1)
    columns = np.zeros((2, len(where)), first.values.dtype)
    np.add.at(columns[0], place[: len(first.values)], first.values)
    np.add.at(columns[1], place[len(first.values) :], second.values)
    found = combine(*columns)
    if threshold is not None:
        # Entries that only one of them has stay.
        twice = np.bincount(place, minlength=len(where)) > 1
        kept = (np.abs(found) >= np.asarray(threshold)) | ~twice
        where, found = where[kept], found[kept]
    return SparseTensor(where, found, first.shape)


def mask(a: HostLike, mask_indices: TensorLike, name: str | None = None) -> Any:
    """Leaves rows out of `tf.IndexedSlices`; see `retain` for sparse tensors.

    Args:
        a: has `indices` and `values`.
        mask_indices: the rows that are left out.

    Source: `tf.sparse.mask`.
    """
    from frontends.tf.indexed_slices import IndexedSlices

    rows = integers(a.indices, "mask: a.indices")
    kept = ~np.isin(rows, integers(mask_indices, "mask_indices"))
    return IndexedSlices(np.asarray(a.values)[kept], rows[kept], a.dense_shape)


def map_values(op: Callable[..., Any], *args: Nested, **kwargs: Nested) -> SparseTensor:
    """Calls a function with the values of sparse tensors, and puts its result in their place.

    Args:
        op: takes arrays; returns one with as many entries.
        *args: of `op`; the sparse tensors among them have entries in the same places.
        **kwargs: likewise.

    Raises:
        ValueError: no argument is sparse, or they have entries in different places.

    Source: `tf.sparse.map_values`.
    """
    found = [one for one in (*args, *kwargs.values()) if isinstance(one, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    if any(not np.array_equal(one.indices, found[0].indices) for one in found):
        raise ValueError("map_values: the sparse tensors have entries in different places.")
    given = [one.values if isinstance(one, SparseTensor) else one for one in args]
    named = {
        key: one.values if isinstance(one, SparseTensor) else one for key, one in kwargs.items()
    }
    return found[0].with_values(np.asarray(op(*given, **named)))


def reduce_sum(
    sp_input: SparseTensor,
    axis: Axis = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Adds the entries along dimensions.

    Args:
        sp_input: the sparse tensor.
        axis: the dimension, or several; None means all.
        keepdims: whether they stay, with size 1.
        output_is_sparse: whether to return a sparse tensor.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: there is no such dimension.

    Source: `tf.sparse.reduce_sum`.
    """
    return _reduced(np.add, _parts(sp_input, "reduce_sum"), axis, keepdims, output_is_sparse)


def reduce_max(
    sp_input: SparseTensor,
    axis: Axis = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Takes the largest entry along dimensions; of what has none, 0. See `reduce_sum`.

    Source: `tf.sparse.reduce_max`.
    """
    return _reduced(np.maximum, _parts(sp_input, "reduce_max"), axis, keepdims, output_is_sparse)


def _reduced(
    ufunc: np.ufunc, parts: _Parts, axis: Axis, keepdims: bool | None, as_sparse: bool
) -> Any:
    """Reduces entries that have the same place in the dimensions that stay; the whole array may be too large."""
    rank = len(parts.shape)
    axes = range(rank) if axis is None else np.atleast_1d(np.asarray(axis, int)).tolist()
    if any(not -rank <= one < rank for one in axes):
        raise ValueError(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
    gone = {one % rank for one in axes}
    # A dimension of size 1 more: NumPy sorts no rows without columns, and sets no list of entries of a scalar.
    places = np.insert(parts.indices, rank, 0, axis=1)
    places[:, sorted(gone)] = 0
    where, group = np.unique(places, axis=0, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    starts = np.searchsorted(group.reshape(-1)[order], np.arange(len(where)))
    found = parts.values
    if len(where):
        found = ufunc.reduceat(found[order], starts, dtype=found.dtype)
    left = [number for number in range(rank) if keepdims or number not in gone]
    shape = [1 if number in gone else int(parts.shape[number]) for number in left]
    if as_sparse:
        return SparseTensor(where[:, left], found, shape)
    array = np.zeros((*shape, 1), found.dtype)
    array[tuple(where[:, [*left, rank]].T)] = found
    return shown(array[..., 0])


def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Computes the softmax of each row over the entries that it has.

    Raises:
        TypeError: `sp_input` is no sparse tensor.

    Source: `tf.sparse.softmax`.
    """
    indices, values, shape = _parts(sp_input, "softmax")
    _, rows = np.unique(indices[:, :-1], axis=0, return_inverse=True)
    rows = rows.reshape(-1)
    count = int(rows.max(initial=-1)) + 1
    largest = np.full(count, -np.inf, values.dtype)
    np.maximum.at(largest, rows, values)
    powers = np.exp(values - largest[rows])
    total = np.zeros(count, values.dtype)
    np.add.at(total, rows, powers)
    return SparseTensor(indices, powers / total[rows], shape)
