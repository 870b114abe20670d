"""Rows of a table, combined over the buckets of each row of a batch."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.feature_column.column import Ids
from frontends.tf.ops.nn import embedding_lookup_once

COMBINERS = ("mean", "sqrtn", "sum")


def check_combiner(combiner: str) -> None:
    """Checks how rows are to be combined.

    Raises:
        ValueError: in another way than "mean", "sqrtn" and "sum".
    """
    if combiner not in COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum'. Given: {combiner!r}")


def combined_rows(table: Any, ids: Ids, combiner: str, max_norm: float | None = None) -> jax.Array:
    """Combines the rows of a table that belong to ids.

    Args:
        table: a variable, `[buckets, size]`.
        ids: which rows, `[batch, ..., n]`.
        combiner: "sum" adds them, by their weights; "mean" divides by the sum of the weights, "sqrtn" by the square root of the
            sum of their squares. The latter two leave out weights that are not positive.
        max_norm: rows that are longer are scaled down to it first.

    Returns:
        `[batch, ..., size]`; zeros where there are no ids.

    Source: `tf.nn.safe_embedding_lookup_sparse`.
    """
    counts = ids.valid
    if ids.weights is not None and combiner != "sum":
        counts &= ids.weights > 0
    # In TensorFlow a row that is in no bucket looks up the first one, and drops it: an optimizer takes it for looked up.
    none = jnp.where(counts.any(-1, keepdims=True), -1, 0).astype(ids.values.dtype)
    numbers = jnp.concatenate([jnp.where(counts, ids.values, -1), none], axis=-1)
    rows = embedding_lookup_once(table, numbers, max_norm)[..., :-1, :]
    return _combine(rows, counts, ids.weights, combiner)


# Traced and differentiated once for all columns of a shape.
@functools.partial(jax.jit, static_argnums=3)
def _combine(
    rows: jax.Array, counts: jax.Array, given: jax.Array | None, combiner: str
) -> jax.Array:
    """Combines rows that were looked up; see `combined_rows`."""
    weights = counts.astype(rows.dtype)
    if given is not None:
        weights = jnp.where(counts, given, 0).astype(rows.dtype)
    # where() rather than a product alone: what does not count may be inf or NaN.
    total = jnp.where(counts[..., None], rows * weights[..., None], 0).sum(-2)
    if combiner == "sum":
        return total
    size = weights.sum(-1) if combiner == "mean" else jnp.sqrt((weights**2).sum(-1))
    return total / jnp.where(size > 0, size, 1)[..., None]
