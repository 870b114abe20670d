"""Padding left out of what Keras computes from rows: losses and penalties on outputs.

Touches Keras internals, which tests/spmd/integrations/keras/test_masking.py runs on every supported version:
`get_keras_mask`, `set_keras_mask`.
"""

import contextlib
import math
from collections.abc import Generator
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from keras.src.backend.common.masking import get_keras_mask, set_keras_mask

from spmd.integrations.keras.typing import Loss, Method
from spmd.replica import BlockMask, current_frame, masks_of_length
from spmd.typing import ArrayLike, PyTree


def rows_of(values: PyTree) -> BlockMask | None:
    """Finds the mask of the batch that has as many rows as these values.

    Args:
        values: arrays of one replica.

    Returns:
        The mask; None outside of a step, and where several batches would fit.
    """
    frame = current_frame()
    leaves = [leaf for leaf in jax.tree.leaves(values) if jnp.ndim(leaf)]
    if frame is None or not frame.masks or not leaves:
        return None
    fitting = masks_of_length(frame.masks, jnp.shape(leaves[0])[0])
    return fitting[0] if len(fitting) == 1 else None


def without_padding(kept: jax.Array, rows: jax.Array) -> jax.Array:
    """Multiplies a Keras mask or weights, `[rows, ...]`, by the validity of the rows; a scalar is that of each row."""
    return kept * rows.reshape(-1, *[1] * (kept.ndim - 1))


def weights_of_rows(rows: jax.Array, weight: ArrayLike, dtype: DTypeLike) -> jax.Array:
    """Multiplies sample weights (None: one each) by the validity of their rows."""
    return without_padding(jnp.asarray(1 if weight is None else weight, dtype), rows)


@contextlib.contextmanager
def padding_masked(value: ArrayLike, mask: BlockMask) -> Generator[None]:
    """Takes padding out of the Keras mask of a value for a `with` block."""
    kept: Any = get_keras_mask(value)
    set_keras_mask(value, without_padding(kept, mask.rows))
    try:
        yield
    finally:
        set_keras_mask(value, kept)


def penalty_of_valid_rows(regularizer: Method, /, output: jax.Array) -> jax.Array:
    """Penalizes the outputs of valid rows; Keras divides by the number of all rows."""
    mask = rows_of([output])
    if mask is None:
        return regularizer(output)
    rows = mask.rows.reshape(-1, *[1] * (output.ndim - 1))
    valid = jnp.maximum(mask.rows.sum(), 1)
    return regularizer(jnp.where(rows, output, 0)) * (mask.rows.shape[0] / valid)


def loss_of_valid_rows(
    call: Method, /, self: Loss, y_true: PyTree, y_pred: PyTree, sample_weight: ArrayLike = None
) -> jax.Array:
    """Wraps `Loss.__call__`: padding has no weight, and means are over valid rows."""
    mask = None if self.reduction in (None, "none") else rows_of([y_true, y_pred])
    if mask is None:
        return call(self, y_true, y_pred, sample_weight)

    def losses_of(values: PyTree) -> jax.Array:
        return self.call(*jax.tree.map(lambda y: jnp.asarray(y, self.dtype), values))

    losses = jax.eval_shape(lambda: losses_of((y_true, y_pred)))
    is_mean = self.reduction in ("mean", "sum_over_batch_size")
    kept: Any = get_keras_mask(y_pred)
    if kept is not None:
        # Keras divides by what its mask keeps, so the rows go into that.
        with padding_masked(y_pred, mask):
            if not is_mean or kept.shape != losses.shape:
                return call(self, y_true, y_pred, sample_weight)
            count = without_padding(kept, mask.rows).sum()
            return _sum(call, self, y_true, y_pred, sample_weight) / _divisor(count, losses)
    if losses.ndim == 0:
        # Padding counts in one number for a batch, so that the step runs on the rows that there are.
        return call(self, y_true, y_pred, sample_weight)
    weight = weights_of_rows(mask.rows, sample_weight, losses.dtype)
    weight = weight.reshape(weight.shape + (1,) * (losses.ndim - weight.ndim))
    weight = jnp.broadcast_to(weight, losses.shape)
    if not is_mean:
        return call(self, y_true, y_pred, weight)
    # Not by Keras's division, which is by the rows of the block.
    count = mask.rows.sum() * math.prod(losses.shape[1:])
    return _sum(call, self, y_true, y_pred, weight) / _divisor(count, losses)


def _sum(
    call: Method, loss: Loss, y_true: PyTree, y_pred: PyTree, sample_weight: ArrayLike
) -> jax.Array:
    """Sums a loss over what its weights and mask keep."""
    reduction, loss.reduction = loss.reduction, "sum"
    try:
        # Keras returns the losses of no rows as they are.
        return jnp.sum(call(loss, y_true, y_pred, sample_weight))
    finally:
        loss.reduction = reduction


def _divisor(count: jax.Array, losses: jax.ShapeDtypeStruct) -> jax.Array:
    return jnp.maximum(count, 1).astype(losses.dtype)
