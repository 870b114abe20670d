"""Metrics that count right and wrong decisions."""

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1._weights import require_shape, squeezed, valid_weights
from frontends.tf.compat.v1.metrics.streaming import Collections, Metric, streamed
from frontends.tf.ops.math import divide_no_nan


def true_positives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights where labels and predictions are true.

    Args:
        labels: booleans, or numbers that are true unless 0.
        predictions: likewise, of the same shape.
        weights: see `mean`.
        metrics_collections: see `mean`.
        updates_collections: see `mean`.
        name: before that of the variable, `count`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.true_positives`.
    """
    sums = _decisions("true_positives", labels, predictions, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _count(name or "true_positives", sums["true_positives"], collections)


def true_negatives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights where labels and predictions are false; see `true_positives`.

    Source: `tf.compat.v1.metrics.true_negatives`.
    """
    sums = _decisions("true_negatives", labels, predictions, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _count(name or "true_negatives", sums["true_negatives"], collections)


def false_positives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights where labels are false and predictions true; see `true_positives`.

    Source: `tf.compat.v1.metrics.false_positives`.
    """
    sums = _decisions("false_positives", labels, predictions, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _count(name or "false_positives", sums["false_positives"], collections)


def false_negatives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights where labels are true and predictions false; see `true_positives`.

    Source: `tf.compat.v1.metrics.false_negatives`.
    """
    sums = _decisions("false_negatives", labels, predictions, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _count(name or "false_negatives", sums["false_negatives"], collections)


def precision(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """True positives among what was predicted true; 0 of none. See `true_positives`.

    Source: `tf.compat.v1.metrics.precision`.
    """
    sums = _decisions("precision", labels, predictions, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _share(name or "precision", sums, "false_positives", collections)


def recall(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """True positives among what is true; 0 of none. See `true_positives`.

    Source: `tf.compat.v1.metrics.recall`.
    """
    sums = _decisions("recall", labels, predictions, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _share(name or "recall", sums, "false_negatives", collections)


def _decisions(
    caller: str, labels: TensorLike, predictions: TensorLike, weights: TensorLike
) -> dict[str, jax.Array]:
    targets, outputs = squeezed(labels, predictions)
    require_shape(caller, targets, outputs)
    targets, outputs = targets != 0, outputs != 0
    factors = valid_weights(weights, targets)

    def summed(where: jax.Array) -> jax.Array:
        return jnp.sum(jnp.where(where, factors, 0))

    return {
        "true_positives": summed(targets & outputs),
        "true_negatives": summed(~targets & ~outputs),
        "false_positives": summed(~targets & outputs),
        "false_negatives": summed(targets & ~outputs),
    }


def _count(name: str, count: jax.Array, collections: Collections) -> Metric:
    return streamed(name, {"count": count}, lambda total: total, collections)


def _share(name: str, sums: dict[str, jax.Array], others: str, collections: Collections) -> Metric:
    """Computes the true positives among themselves and others."""
    counts = {f"{one}/count": sums[one] for one in ("true_positives", others)}
    return streamed(name, counts, lambda tp, other: divide_no_nan(tp, tp + other), collections)
