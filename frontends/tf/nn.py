"""`tf.nn`: averages over the global batch, and the functions of neural networks in JAX.

The averages are this module's own; the others stand in a table, `frontends.tf.ops.tables.NN`.
"""

import jax
import jax.numpy as jnp

import spmd
from frontends.tf._names import attributes
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.distribute.scope import get_strategy, in_cross_replica_context
from frontends.tf.ops.tables import NN
from spmd.replica import weighted


def compute_average_loss(
    per_example_loss: TensorLike,
    sample_weight: TensorLike = None,
    global_batch_size: TensorLike = None,
) -> jax.Array:
    """Computes this replica's share of the mean loss over the global batch.

    Summed over replicas, the shares are the mean. Padding rows of a partial batch are left out.

    Args:
        per_example_loss: shape `(rows, ...)`; axes after the first are summed.
        sample_weight: weights that broadcast to `per_example_loss`, or None.
        global_batch_size: what to divide by; None divides by the valid rows of all replicas together.

    Returns:
        Scalar.

    Raises:
        RuntimeError: called in cross-replica context without `global_batch_size`.
        ValueError: the loss is a scalar already.

    Examples:
        >>> float(compute_average_loss([1.0, 3.0], global_batch_size=8))
        0.5

    Source: `tf.nn.compute_average_loss`. TensorFlow takes rows times replicas for a missing
    `global_batch_size`, which is the same for full batches and wrong for uneven ones.
    """
    if global_batch_size is None:
        _require_replica("compute_average_loss")
    loss = weighted(jnp.asarray(per_example_loss), sample_weight)
    if loss.ndim > 1:
        loss = loss.sum(axis=tuple(range(1, loss.ndim)))
    return spmd.average_loss(loss, global_batch_size=global_batch_size)


def scale_regularization_loss(regularization_loss: Nested) -> jax.Array:
    """Divides a regularisation loss by the number of replicas, because gradients are summed.

    Args:
        regularization_loss: a loss, or a list of losses; they are added up.

    Returns:
        Scalar.

    Raises:
        RuntimeError: called in cross-replica context.

    Examples:
        >>> float(scale_regularization_loss([1.0, 2.0]))
        3.0

    Source: `tf.nn.scale_regularization_loss`.
    """
    _require_replica("scale_regularization_loss")
    total = sum(jnp.sum(jnp.asarray(loss)) for loss in jax.tree.leaves(regularization_loss))
    return jnp.asarray(total) / get_strategy().num_replicas_in_sync


def _require_replica(name: str) -> None:
    if in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{name}` in cross replica context, while it was expected to be called in "
            f"replica context: it gives one replica's share. Call it in the function that "
            "strategy.run(...) runs."
        )


__getattr__, __dir__ = attributes(
    "tf.nn", NN, present=("compute_average_loss", "scale_regularization_loss")
)
