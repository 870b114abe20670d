"""Metrics that count each class by itself."""

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1._weights import require_shape, valid_weights
from frontends.tf.compat.v1.metrics.streaming import Collections, Metric, streamed
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.math import divide_no_nan
from frontends.tf.ops.ranking import confusion_matrix


def mean_per_class_accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Mean over classes of how many of a class's labels were predicted. See `mean`.

    Args:
        labels: numbers of classes.
        predictions: likewise, as many.
        num_classes: how many classes there are.
        weights: one number, or as many as labels.
        metrics_collections: see `mean`.
        updates_collections: see `mean`.
        name: before those of the variables, `total` and `count`.

    Returns:
        The value, and the update, which is the accuracy of each class, `[classes]`.

    Raises:
        ValueError: the shapes differ.

    Source: `tf.compat.v1.metrics.mean_per_class_accuracy`.
    """
    rows, columns, factors = _flat("mean_per_class_accuracy", labels, predictions, weights)
    zeros = jnp.zeros(num_classes, jnp.float32)
    is_correct = jnp.equal(columns.astype(rows.dtype), rows)
    sums = {
        "total": zeros.at[rows].add(factors),
        "count": zeros.at[rows].add(jnp.where(is_correct, factors, 0)),
    }

    def of_classes(total: jax.Array, count: jax.Array) -> jax.Array:
        return divide_no_nan(count, jnp.maximum(total, 0))

    return streamed(
        name or "mean_accuracy",
        sums,
        lambda total, count: jnp.mean(of_classes(total, count)),
        Collections(metrics_collections, updates_collections),
        of_classes,
    )


def mean_iou(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Mean over classes of intersection over union, without classes that do not occur. See `mean_per_class_accuracy`.

    Its variable is float32, in TensorFlow float64.

    Returns:
        The value, and the update, which is the confusion matrix.

    Raises:
        ValueError: the shapes differ.

    Source: `tf.compat.v1.metrics.mean_iou`.
    """
    rows, columns, factors = _flat("mean_iou", labels, predictions, weights)
    counts = confusion_matrix(rows, columns, num_classes, factors, "float32")
    return streamed(
        name or "mean_iou",
        {"total_confusion_matrix": counts},
        _mean_iou,
        Collections(metrics_collections, updates_collections),
        lambda matrix: matrix,
    )


def streaming_confusion_matrix(
    labels: TensorLike, predictions: TensorLike, num_classes: int, weights: TensorLike = None
) -> Metric:
    """Counts predictions (columns) of labels (rows); TensorFlow does not document it, and packages of metrics import it.

    Its variable is float32, in TensorFlow float64.

    Args:
        labels: numbers of classes.
        predictions: likewise, as many.
        num_classes: how many classes there are.
        weights: one number, or as many as labels.

    Returns:
        The matrix of all batches, and the update, which is that with this batch.

    Raises:
        ValueError: the shapes differ.
    """
    rows, columns, factors = _flat("_streaming_confusion_matrix", labels, predictions, weights)
    counts = confusion_matrix(rows, columns, num_classes, factors, "float32")
    sums = {"total_confusion_matrix": counts}
    return streamed("confusion_matrix", sums, lambda matrix: matrix, Collections())


def _mean_iou(matrix: jax.Array) -> jax.Array:
    both = jnp.diagonal(matrix)
    either = matrix.sum(0) + matrix.sum(1) - both
    occurs = jnp.sum(either != 0).astype(jnp.float32)
    return divide_no_nan(jnp.sum(divide_no_nan(both, jnp.maximum(either, 0))), occurs)


def _flat(
    caller: str, labels: TensorLike, predictions: TensorLike, weights: TensorLike
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Flattens labels, predictions and weights, of which padding has none."""
    rows, columns = convert_to_tensor(labels), convert_to_tensor(predictions)
    require_shape(caller, rows.ravel(), columns.ravel())
    if weights is not None:
        weights = convert_to_tensor(weights)
        weights = weights.reshape(rows.shape) if weights.size == rows.size else weights
    return rows.ravel().astype(jnp.int32), columns.ravel(), valid_weights(weights, rows).ravel()
