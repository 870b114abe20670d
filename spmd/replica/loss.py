"""Averages over the global batch that are exact for any number of replicas and for padded batches."""

import jax
import jax.numpy as jnp

from spmd.errors import BatchError
from spmd.replica.collectives import all_reduce
from spmd.replica.context import current_frame, in_replica
from spmd.replica.rows import masks_of_length
from spmd.typing import ArrayLike


def average_loss(
    per_example_loss: ArrayLike,
    sample_weight: ArrayLike | None = None,
    global_batch_size: ArrayLike | None = None,
) -> jax.Array:
    """Computes this replica's share of the mean loss over the global batch.

    The sum over replicas, of these shares and of their gradients, is the mean over all valid rows and
    its gradient. Padding is left out: that of the batch which has as many rows as there are losses.

    Args:
        per_example_loss: shape `(rows, ...)`; axes after the first are averaged.
        sample_weight: weights that broadcast to `per_example_loss`, or None.
        global_batch_size: what to divide by; None divides by the number of valid rows on all replicas.

    Returns:
        Scalar; 0 if there is no row to divide by.

    Raises:
        ValueError: the loss is a scalar already.
        BatchError: the step received several batches with as many rows, and no `global_batch_size`
            was given: whose padding is to be left out?

    Examples:
        >>> import jax.numpy as jnp
        >>> float(average_loss(jnp.array([1.0, 3.0])))
        2.0

    Source: `tf.nn.compute_average_loss`.
    """
    loss = jnp.asarray(per_example_loss)
    if loss.ndim == 0:
        raise ValueError(
            "average_loss needs one loss per example, shape (rows,), but got a scalar. Take the mean "
            "out of the loss function: it would be a mean over this replica only."
        )
    loss = weighted(loss, sample_weight)
    loss = loss.mean(axis=tuple(range(1, loss.ndim)))
    # Float16 ends at 65504, which a sum or a number of rows may exceed though their quotient does not.
    wide = jnp.promote_types(loss.dtype, jnp.float32)
    rows = _rows_of(loss, global_batch_size)
    if rows is None:
        count = jnp.asarray(loss.shape[0], wide)
    else:
        # where() rather than a product: padding may hold inf or NaN.
        loss = jnp.where(rows, loss, jnp.zeros_like(loss))
        count = rows.sum().astype(wide)
    if global_batch_size is None:
        global_batch_size = all_reduce(count) if in_replica() else count
    total, size = loss.sum(dtype=wide), jnp.asarray(global_batch_size, wide)
    # Not 0 / 0: a batch without rows has no loss.
    none = jax.lax.full_like(size, 0)
    empty = jax.lax.eq(size, none)
    share = total / jax.lax.select(empty, jax.lax.full_like(size, 1), size)
    return jax.lax.select(empty, none, share).astype(loss.dtype)


def _rows_of(loss: jax.Array, global_batch_size: ArrayLike | None) -> jax.Array | None:
    """Finds the mask of the batch that the losses are of; None if they are of no batch."""
    frame = current_frame()
    masks = [] if frame is None or frame.masks is None else frame.masks
    fitting = [mask.rows for mask in masks_of_length(masks, loss.shape[0])]
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    if global_batch_size is None:
        raise BatchError(
            f"average_loss got {loss.shape[0]} losses on each replica, and this step received {len(fitting)} batches "
            "of as many rows, so it cannot tell whose padding to leave out. Say which rows count:\n"
            "  rows = spmd.valid_rows(batch)\n"
            "  spmd.average_loss(loss, rows, global_batch_size=spmd.all_reduce(rows.sum()))"
        )
    return None


def weighted(loss: jax.Array, sample_weight: ArrayLike | None) -> jax.Array:
    """Multiplies losses with weights.

    Args:
        loss: shape `(rows, ...)`.
        sample_weight: None, a scalar, or shape `(rows,)`, `(rows, 1)` or that of the first axes of
            `loss`.

    Returns:
        The losses in floating point, of the same shape.

    Raises:
        ValueError: the shapes do not fit.

    Examples:
        >>> weighted(jnp.ones((2,)), jnp.array([[1.0], [3.0]])).tolist()
        [1.0, 3.0]

    Source: `tf.nn.compute_average_loss`, which squeezes weights in the same way.
    """
    if not jnp.issubdtype(loss.dtype, jnp.floating):
        loss = loss.astype(jnp.float32)
    if sample_weight is None:
        return loss
    weight = jnp.asarray(sample_weight, loss.dtype)
    if weight.ndim == loss.ndim + 1 and weight.shape[-1] == 1:
        weight = weight[..., 0]
    if any(size not in (1, n) for size, n in zip(weight.shape, loss.shape, strict=False)) or (
        weight.ndim > loss.ndim
    ):
        raise ValueError(
            f"sample_weight of shape {weight.shape} does not fit losses of shape {loss.shape}. "
            "Give one weight for each loss."
        )
    return loss * weight.reshape(weight.shape + (1,) * (loss.ndim - weight.ndim))
