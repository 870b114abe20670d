"""`tf.compat.v1.sparse`: TensorFlow 1's functions of sparse tensors whose parameters are others than in `tf.sparse`.

TensorFlow 1 has them at its top too, as `tf.sparse_add`; all other names are those of `tf.sparse`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from frontends.tf._names import attributes
from frontends.tf._typing import Axis, HostLike, ShapeLike, TensorLike
from frontends.tf.data.host_arrays import host_array, integers, zero_of
from frontends.tf.data.host_arrays import shown as _shown
from frontends.tf.sparse import transforms
from frontends.tf.sparse.sparse_tensor import SparseTensor


class SparseTensorValue(NamedTuple):
    """The parts of a sparse tensor.

    Source: `tf.compat.v1.SparseTensorValue`.
    """

    indices: HostLike
    values: HostLike
    dense_shape: Any


def sparse_concat(
    axis: int | None = None,
    sp_inputs: Sequence[SparseTensor] = (),
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Joins sparse tensors along a dimension; see `tf.sparse.concat`.

    Source: `tf.compat.v1.sparse_concat`.
    """
    at: Any = concat_dim if axis is None else axis
    return transforms.concat(at, sp_inputs, bool(expand_nonconcat_dims or expand_nonconcat_dim))


def sparse_add(
    a: HostLike, b: HostLike, threshold: TensorLike = None, thresh: TensorLike = None
) -> Any:
    """Adds two tensors, of which one at least is sparse; see `tf.sparse.add`.

    Source: `tf.compat.v1.sparse_add`.
    """
    given = thresh if threshold is None else threshold
    return transforms.add(a, b, 0 if given is None else given)


def sparse_reduce_sum(
    sp_input: SparseTensor,
    axis: Axis = None,
    keepdims: bool | None = None,
    reduction_axes: Axis = None,
    keep_dims: bool | None = None,
) -> Any:
    """Adds the entries along dimensions; see `tf.sparse.reduce_sum`.

    Source: `tf.compat.v1.sparse_reduce_sum`.
    """
    axes = reduction_axes if axis is None else axis
    return transforms.reduce_sum(sp_input, axes, bool(keepdims or keep_dims))


def sparse_reduce_max(
    sp_input: SparseTensor,
    axis: Axis = None,
    keepdims: bool | None = None,
    reduction_axes: Axis = None,
    keep_dims: bool | None = None,
) -> Any:
    """Takes the largest entry along dimensions; see `tf.sparse.reduce_max`.

    Source: `tf.compat.v1.sparse_reduce_max`.
    """
    axes = reduction_axes if axis is None else axis
    return transforms.reduce_max(sp_input, axes, bool(keepdims or keep_dims))


def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: ShapeLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    """Makes an array of values and their places.

    Args:
        sparse_indices: integers, one, a vector or a row for each value.
        output_shape: of the array.
        sparse_values: one for all places, or one for each.
        default_value: the other entries.
        validate_indices: whether places out of order, or twice, are an error.

    Raises:
        ValueError: a place is outside of the array, or they are not in order.

    Source: `tf.compat.v1.sparse_to_dense`.
    """
    values = host_array(sparse_values, "sparse_to_dense: sparse_values")
    shape = integers(output_shape, "sparse_to_dense: output_shape").reshape(-1)
    where = integers(sparse_indices, "sparse_to_dense: sparse_indices").reshape(-1, len(shape))
    if ((where < 0) | (where >= shape)).any():
        raise ValueError(
            f"sparse_to_dense: an index is out of bounds: the shape is {shape.tolist()}."
        )
    order = np.diff(np.ravel_multi_index(tuple(where.T), tuple(shape))) if len(where) else where
    if validate_indices and (order <= 0).any():
        raise ValueError(
            "sparse_to_dense: indices are repeated or out of order.\nFix: validate_indices=False"
        )
    kind = "string" if values.dtype.kind == "O" else values.dtype
    is_unset = isinstance(default_value, int) and default_value == 0
    default = (
        zero_of(values.dtype) if is_unset else host_array(default_value, "default_value", kind)[()]
    )
    found = np.empty(tuple(shape), values.dtype)
    found[...] = default
    found[tuple(where.T)] = values if values.ndim else values[()]
    return _shown(found)


def sparse_merge(
    sp_ids: SparseTensor | Sequence[SparseTensor],
    sp_values: SparseTensor,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Makes of ids and values that belong together a tensor whose last indices are the ids.

    Args:
        sp_ids: integers at the places of `sp_values`, or several such tensors, one for each last axis.
        sp_values: of shape (rows..., n).
        vocab_size: a number above all ids, or one for each tensor of ids.
        already_sorted: whether the result is in order without sorting.

    Returns:
        Shape (rows..., vocab_size...).

    Raises:
        ValueError: there are not as many sizes as tensors of ids.

    Source: `tf.compat.v1.sparse_merge`.
    """
    ids = [sp_ids] if isinstance(sp_ids, SparseTensor) else list(sp_ids)
    sizes = [vocab_size] if isinstance(sp_ids, SparseTensor) else list(vocab_size)
    if len(ids) != len(sizes):
        raise ValueError(
            f"sp_ids and vocab_size have to have equal lengths, got {len(ids)} and {len(sizes)}."
        )
    places = [np.asarray(one.values, np.int64)[:, None] for one in ids]
    merged = SparseTensor(
        np.concatenate([np.asarray(sp_values.indices)[:, :-1], *places], axis=1),
        sp_values.values,
        np.concatenate([np.asarray(sp_values.dense_shape)[:-1], np.asarray(sizes, np.int64)]),
    )
    return merged if already_sorted else transforms.reorder(merged)


__getattr__, __dir__ = attributes(
    "tf.compat.v1.sparse",
    {
        "add": sparse_add,
        "concat": sparse_concat,
        "merge": sparse_merge,
        "reduce_max": sparse_reduce_max,
        "reduce_sum": sparse_reduce_sum,
    },
    rest="frontends.tf.sparse",
)
