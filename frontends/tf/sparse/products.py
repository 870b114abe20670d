"""Products of sparse tensors and arrays, which steps compute, and embeddings of sparse ids.

The sparse tensor is in host memory: in a step it is a constant. Gradients reach the array. A step that gets its ids in each
batch gets them as a dense array, in which negative ids stand for none.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.nn import embedding_lookup_once
from frontends.tf.ragged import partitions
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.sparse.sparse_tensor import SparseTensor

_COMBINERS = ("mean", "sqrtn", "sum")


def sparse_dense_matmul(
    sp_a: HostLike,
    b: HostLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Multiplies a sparse matrix with a dense one, or a dense one with a sparse one.

    Args:
        sp_a: a sparse tensor; or an array, as steps get it.
        b: an array or a variable; or a sparse tensor, if `sp_a` is none.
        adjoint_a: whether to transpose the first one, and to take its conjugate.
        adjoint_b: likewise the second one.

    Raises:
        TypeError: both matrices are sparse.
        ValueError: the shapes do not fit.

    Source: `tf.sparse.sparse_dense_matmul`.
    """
    if isinstance(b, SparseTensor):
        if isinstance(sp_a, SparseTensor):
            raise TypeError(
                "sparse_dense_matmul: one of the matrices must be dense.\nFix: tf.sparse.to_dense(b)"
            )
        return _adjoint(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a))
    matrix = convert_to_tensor(b)
    matrix = _adjoint(matrix) if adjoint_b else matrix
    if not isinstance(sp_a, SparseTensor):
        first = convert_to_tensor(sp_a)
        return jnp.matmul(_adjoint(first) if adjoint_a else first, matrix)
    indices, shape = np.asarray(sp_a.indices), np.asarray(sp_a.dense_shape).tolist()
    values = jnp.asarray(np.asarray(sp_a.values))
    if adjoint_a:
        indices, shape, values = indices[:, ::-1], shape[::-1], values.conj()
    if len(shape) != 2 or matrix.ndim != 2 or matrix.shape[0] != shape[1]:
        raise ValueError(
            f"Cannot multiply A and B because inner dimension does not match: {shape} and {list(matrix.shape)}."
        )
    products = values[:, None] * matrix[indices[:, 1]]
    return jax.ops.segment_sum(products, jnp.asarray(indices[:, 0]), shape[0])


def _adjoint(matrix: jax.Array) -> jax.Array:
    return jnp.swapaxes(matrix, -1, -2).conj()


def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: HostLike,
    sp_weights: HostLike = None,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> jax.Array:
    """Takes rows of a table, and combines those of each row of ids.

    Args:
        params: the table.
        sp_ids: a sparse tensor or a ragged tensor; or an array in which negative ids stand for none, as steps get it.
        sp_weights: of each id, in the same form; None means 1.
        combiner: `"mean"` (of weights), `"sqrtn"` or `"sum"`; None means mean.
        max_norm: to which rows of the table are scaled down.
        allow_fast_lookup: accepted.

    Returns:
        A row for each row of ids, up to the last one that has an id; for an array, each row.

    Raises:
        TypeError: the ids are something else.
        ValueError: the combiner is unknown, or the weights do not fit.

    Source: `tf.nn.embedding_lookup_sparse`.
    """
    how = "mean" if combiner is None else combiner
    if how not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {how}")
    if isinstance(sp_ids, SparseTensor | RaggedTensor):
        if sp_weights is not None and type(sp_weights) is not type(sp_ids):
            raise TypeError("sp_weights must be either None or of the same type as sp_ids.")
        if isinstance(sp_ids, RaggedTensor) and sp_ids.ragged_rank > 1:
            raise ValueError(
                f"embedding_lookup_sparse: expected rows of ids, got a ragged tensor of {sp_ids.ragged_rank} ragged dimensions.\n"
                f"Fix: ids.merge_dims(0, {sp_ids.ragged_rank - 1})"
            )
        ids, rows = _flat(sp_ids)
        weights = None if sp_weights is None else _flat(sp_weights)[0]
        if weights is not None and len(weights) != len(ids):
            raise ValueError(
                f"embedding_lookup_sparse: {len(ids)} ids need as many weights, got {len(weights)}."
            )
        count = int(rows.max(initial=-1)) + 1
        found = embedding_lookup_once(params, jnp.asarray(ids), max_norm)
        return _combined(found, weights, rows, count, how)
    return _of_padded(params, sp_ids, sp_weights, how, max_norm)


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: HostLike,
    sparse_weights: HostLike = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> jax.Array:
    """Takes rows of a table, and combines those of each row of ids; rows without ids give the default.

    Args:
        embedding_weights: the table.
        sparse_ids: as of `embedding_lookup_sparse`; negative ids are left out.
        sparse_weights: as of `embedding_lookup_sparse`; ids whose weight is not above zero are left out, except with
            `"sum"`.
        combiner: `"mean"`, `"sqrtn"` or `"sum"`.
        default_id: the id of rows that have none; None means zeros.
        max_norm: to which rows of the table are scaled down.
        allow_fast_lookup: accepted.

    Returns:
        A row for each row of ids.

    Raises:
        ValueError: the combiner is unknown, or the weights do not fit.

    Source: `tf.nn.safe_embedding_lookup_sparse`.
    """
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    prunes = combiner != "sum"
    if not isinstance(sparse_ids, SparseTensor | RaggedTensor):
        return _of_padded(
            *(embedding_weights, sparse_ids, sparse_weights, combiner, max_norm),
            is_safe=True,
            default_id=default_id,
        )
    if isinstance(sparse_ids, RaggedTensor):
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    ids, indices = np.asarray(sparse_ids.values), np.asarray(sparse_ids.indices)
    outer = np.asarray(sparse_ids.dense_shape)[:-1].tolist()
    count = int(np.prod(outer))
    rows: Any = (
        np.ravel_multi_index(tuple(indices[:, :-1].T), tuple(outer))
        if len(ids)
        else np.empty(0, int)
    )
    kept = ids >= 0
    weights = None if sparse_weights is None else np.asarray(sparse_weights.values)
    if weights is not None and prunes:
        kept &= weights > 0
    ids, rows, weights = ids[kept], rows[kept], None if weights is None else weights[kept]
    empty = np.bincount(rows, minlength=count) == 0
    # Without a default, too, the first row is looked up in TensorFlow, and dropped.
    ids = np.concatenate([ids, np.full(int(empty.sum()), default_id or 0, ids.dtype)])
    rows = np.concatenate([rows, np.flatnonzero(empty)])
    if weights is not None:
        weights = np.concatenate([weights, np.ones(int(empty.sum()), weights.dtype)])
    found = embedding_lookup_once(embedding_weights, jnp.asarray(ids), max_norm)
    made = _combined(found, weights, rows, count, combiner)
    if default_id is None:
        made = jnp.where(jnp.asarray(empty)[:, None], 0, made)
    return made.reshape(*outer, *made.shape[1:])


def _flat(value: HostLike) -> tuple[np.ndarray, np.ndarray]:
    """Returns the values of a sparse or ragged tensor, and the row of each."""
    if isinstance(value, RaggedTensor):
        return np.asarray(value.flat_values), partitions.rows_of(value.lengths)
    return np.asarray(value.values), np.asarray(value.indices)[:, 0]


def _combined(found: Any, weights: HostLike, rows: np.ndarray, count: int, how: str) -> jax.Array:
    numbers = jnp.asarray(rows.astype(np.int32))
    factor = (
        jnp.ones(len(rows), found.dtype) if weights is None else jnp.asarray(weights, found.dtype)
    )
    column = factor.reshape(-1, *[1] * (found.ndim - 1))
    total = jax.ops.segment_sum(found * column, numbers, count)
    if how == "sum":
        return total
    column = column if how == "mean" else column * column
    norm = jax.ops.segment_sum(column, numbers, count)
    return _over(total, norm if how == "mean" else jnp.sqrt(norm))


def _over(total: jax.Array, norm: jax.Array) -> jax.Array:
    # A row without ids has no gradient either.
    return jnp.where(norm == 0, 0, total / jnp.where(norm == 0, 1, norm))


def _of_padded(
    params: TensorLike,
    ids: TensorLike,
    weights: TensorLike,
    how: str,
    max_norm: float | None,
    *,
    is_safe: bool = False,
    default_id: int | None = None,
) -> jax.Array:
    """Combines rows of a table for each row of an array of ids; see `embedding_lookup_sparse`.

    Args:
        params: the table.
        ids: of its rows, of which negative ones stand for none.
        weights: of the ids, or None.
        how: the combiner.
        max_norm: to which rows of the table are scaled down.
        is_safe: whether weights that are not above zero do not count, except in sums, and rows without ids have the default.
        default_id: see `safe_embedding_lookup_sparse`.
    """
    numbers = convert_to_tensor(ids)
    if not jnp.issubdtype(numbers.dtype, jnp.integer) or numbers.ndim < 2:
        raise TypeError(
            "sp_ids must be a tf.SparseTensor or a tf.RaggedTensor; or an array of ids of shape [rows, ids], in which negative ids "
            f"stand for none: got {numbers.dtype} of shape {tuple(numbers.shape)}."
        )
    there = numbers >= 0
    factor = jnp.ones(numbers.shape) if weights is None else convert_to_tensor(weights)
    if is_safe and how != "sum":
        there &= factor > 0
    numbers = jnp.where(there, numbers, -1)
    if is_safe:
        # Without a default, too, the first row is looked up in TensorFlow, and dropped.
        default = jnp.where(there.any(-1, keepdims=True), -1, default_id or 0)
        numbers = jnp.concatenate([numbers, default.astype(numbers.dtype)], axis=-1)
    found = embedding_lookup_once(params, numbers, max_norm)
    factor = jnp.where(there, factor, 0).astype(found.dtype)[..., None]
    total = (found[..., : there.shape[-1], :] * factor).sum(-2)
    if how != "sum":
        norm = factor.sum(-2) if how == "mean" else jnp.sqrt((factor * factor).sum(-2))
        total = _over(total, norm)
    return total if default_id is None else total + found[..., -1, :]
