"""`tf.nn`: averages over the global batch, and the functions of neural networks in JAX.

The averages are this module's own; the others stand in a table, `frontends.tf.ops.tables.NN`.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

import spmd
from frontends.tf._names import attributes
from frontends.tf._symbolic import recordable
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.distribute.scope import get_strategy, in_cross_replica_context
from frontends.tf.dtypes import as_dtype
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.devices import across_devices
from frontends.tf.ops.tables import NN


def compute_average_loss(
    per_example_loss: TensorLike,
    sample_weight: TensorLike = None,
    global_batch_size: TensorLike = None,
) -> jax.Array:
    """Computes this replica's share of the mean loss over the global batch.

    Summed over replicas, the shares are the mean. Padding rows of a partial batch are left out.

    Args:
        per_example_loss: shape `(rows, ...)`; axes after the first are summed.
        sample_weight: weights that broadcast to `per_example_loss`, or None. With one axis more, the last
            of which has size 1, they lose it; with one axis less they get one.
        global_batch_size: what to divide by; None divides by the valid rows of all replicas together.

    Returns:
        Scalar; 0 where there are no rows, or the size is 0.

    Raises:
        RuntimeError: called in cross-replica context without `global_batch_size`.
        TypeError: `global_batch_size` is no integer.
        ValueError: the loss is a scalar already, the weights do not fit, or `global_batch_size` is an array of
            several numbers, or negative (where it is known while tracing).

    Examples:
        >>> float(compute_average_loss([1.0, 3.0], global_batch_size=8))
        0.5

    Source: `tf.nn.compute_average_loss`. TensorFlow takes rows times replicas for a missing
    `global_batch_size`, which is the same for full batches and wrong for uneven ones.
    """
    loss = convert_to_tensor(per_example_loss)
    if loss.ndim == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. Received "
            f"per_example_loss={loss} with rank 0. Take the mean out of the loss function: "
            "keras.losses.MeanSquaredError(reduction='none')."
        )
    if sample_weight is not None:
        loss = _weighted(loss, convert_to_tensor(sample_weight))
    if global_batch_size is None:
        _require_replica("compute_average_loss")
    else:
        global_batch_size = _checked_size(global_batch_size)
    if not jnp.issubdtype(loss.dtype, jnp.floating):
        loss = loss.astype(jnp.float32)
    if loss.ndim > 1:
        loss = loss.sum(axis=tuple(range(1, loss.ndim)))
    return spmd.average_loss(loss, global_batch_size=global_batch_size)


def _checked_size(global_batch_size: TensorLike) -> Any:
    size = convert_to_tensor(global_batch_size)
    if np.ndim(size) != 0:
        raise ValueError(
            f"global_batch_size must be scalar. Expected scalar shape, saw shape: {np.shape(size)}."
        )
    if not np.issubdtype(size.dtype, np.integer):
        raise TypeError(
            "global_batch_size must be an integer. Expected an integer type, found "
            f"{as_dtype(size.dtype).name}. Write global_batch_size=int(size)."
        )
    # Not the array, which may be traced where the number is not.
    known = global_batch_size if isinstance(global_batch_size, int | np.integer) else size
    if not isinstance(known, Tracer) and int(known) < 0:
        raise ValueError(f"global_batch_size must be non-negative. Found {known}.")
    return size


def _weighted(loss: jax.Array, weight: jax.Array) -> jax.Array:
    """Multiplies losses with weights of their rank, or of one axis more or less; in float32, as TensorFlow does."""
    if weight.ndim == loss.ndim + 1:
        if weight.shape[-1] != 1:
            raise ValueError(
                f"sample_weight of shape {weight.shape} does not fit losses of shape {loss.shape}: its last "
                "axis would have to have size 1. Give one weight for each loss."
            )
        weight = weight[..., 0]
    elif 0 < weight.ndim == loss.ndim - 1:
        weight = weight[..., None]
    try:
        np.broadcast_shapes(weight.shape, loss.shape)
    except ValueError:
        raise ValueError(
            f"sample_weight of shape {weight.shape} does not fit losses of shape {loss.shape}. Give one "
            "weight for each loss."
        ) from None
    product = loss.astype(jnp.float32) * weight.astype(jnp.float32)
    floating = jnp.issubdtype(loss.dtype, jnp.floating)
    return product.astype(loss.dtype) if floating else product


def scale_regularization_loss(regularization_loss: Nested) -> jax.Array:
    """Divides a regularisation loss by the number of replicas, because gradients are summed.

    Args:
        regularization_loss: a loss, or a list of losses; they are added up.

    Returns:
        Scalar.

    Raises:
        RuntimeError: called in cross-replica context.
        ValueError: the losses have different shapes, as if one of them had not been added up.

    Examples:
        >>> float(scale_regularization_loss([1.0, 2.0]))
        3.0

    Source: `tf.nn.scale_regularization_loss`.
    """
    _require_replica("scale_regularization_loss")
    losses = list(map(convert_to_tensor, jax.tree.leaves(regularization_loss)))
    shapes = sorted({np.shape(loss) for loss in losses})
    if len(shapes) > 1:
        raise ValueError(
            f"scale_regularization_loss adds up losses of one shape, but got the shapes {shapes}. Reduce each to a "
            "scalar first: tf.reduce_sum(loss)."
        )
    total = jnp.asarray(sum(map(jnp.sum, losses)))
    return total / get_strategy().num_replicas_in_sync


def _require_replica(name: str) -> None:
    if in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{name}` in cross replica context, while it was expected to be called in "
            f"replica context: it gives one replica's share. Call it in the function that "
            "strategy.run(...) runs."
        )


# What TensorFlow 1 had here.
_TF1 = (
    *("bidirectional_dynamic_rnn", "dynamic_rnn", "relu_layer", "rnn_cell", "static_rnn"),
    *("softmax_cross_entropy_with_logits_v2", "static_bidirectional_rnn", "xw_plus_b"),
)
__getattr__, __dir__ = attributes(
    "tf.nn",
    recordable("tf.nn", across_devices("tf.nn", NN)),
    {"experimental": "frontends.tf.nn_experimental"},
    present=("compute_average_loss", "scale_regularization_loss"),
    borrowed=dict.fromkeys(_TF1, "frontends.tf.compat.v1.nn")
    | dict.fromkeys(
        ("embedding_lookup_sparse", "safe_embedding_lookup_sparse"), "frontends.tf.sparse.products"
    ),
)
