"""Metrics of the best `k` classes of each row.

*Labels* are numbers of classes: one a row, or several along the last axis, which may be padded with -1. Sums are float32,
in TensorFlow float64.
"""

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1._weights import valid_weights
from frontends.tf.compat.v1.metrics.streaming import Collections, Metric, streamed
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.math import divide_no_nan


def precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """How many of the best `k` classes of each row are among its labels.

    Args:
        labels: shape `[...]` or `[..., labels]`.
        predictions: scores, shape `[..., classes]`.
        k: how many classes.
        class_id: the only class that counts; None counts all.
        weights: one number, or one for each row.
        metrics_collections: see `mean`.
        updates_collections: see `mean`.
        name: before those of the variables.

    Returns:
        The value and the update; NaN without any class that counts.

    Raises:
        ValueError: the shapes do not fit.

    Source: `tf.compat.v1.metrics.precision_at_k`.
    """
    best = jax.lax.top_k(convert_to_tensor(predictions), k)[1]
    return precision_at_top_k(
        labels, best, k, class_id, weights, metrics_collections, updates_collections, name
    )


def precision_at_top_k(
    labels: TensorLike,
    predictions_idx: TensorLike,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Like `precision_at_k`, of the numbers of the best classes, `[..., k]`; `k` is for the name only.

    Source: `tf.compat.v1.metrics.precision_at_top_k`.
    """
    collections = Collections(metrics_collections, updates_collections)
    found = _Found(labels, predictions_idx, class_id)
    others = {"false_positive": found.false_positives()}
    return _share(name, "precision", k, class_id, found, others, weights, collections)


def recall_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """How many of the labels of each row are among its best `k` classes; see `precision_at_k`.

    Source: `tf.compat.v1.metrics.recall_at_k`.
    """
    best = jax.lax.top_k(convert_to_tensor(predictions), k)[1]
    return recall_at_top_k(
        labels, best, k, class_id, weights, metrics_collections, updates_collections, name
    )


def recall_at_top_k(
    labels: TensorLike,
    predictions_idx: TensorLike,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Like `recall_at_k`, of the numbers of the best classes, `[..., k]`; `k` is for the name only.

    Source: `tf.compat.v1.metrics.recall_at_top_k`.
    """
    collections = Collections(metrics_collections, updates_collections)
    found = _Found(labels, predictions_idx, class_id)
    others = {"false_negative": found.false_negatives()}
    return _share(name, "recall", k, class_id, found, others, weights, collections)


def average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Mean over rows of the precision at each rank up to `k` that a label has; see `precision_at_k`.

    Raises:
        ValueError: `k` is below 1, or the shapes do not fit.

    Source: `tf.compat.v1.metrics.average_precision_at_k`.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}. `k` should be >= 1.")
    scores = convert_to_tensor(predictions)
    found = _Found(labels, jax.lax.top_k(scores, k)[1])
    is_hit = found.hits.astype(jnp.float32)
    precisions = jnp.cumsum(is_hit, -1) / jnp.arange(1, k + 1, dtype=jnp.float32)
    is_class = (found.labels >= 0) & (found.labels < scores.shape[-1])
    relevant = jnp.minimum(jnp.sum(is_class, -1), k)
    averages = jnp.sum(precisions * is_hit, -1) / relevant
    factors = valid_weights(weights, averages)
    # By TensorFlow's names.
    sums = {
        "max_1": jnp.sum(factors),
        "total": jnp.sum(jnp.where(factors == 0, 0, averages * factors)),
    }
    return streamed(
        name or _at_k("average_precision", k, None),
        sums,
        lambda count, total: divide_no_nan(total, count),
        Collections(metrics_collections, updates_collections),
    )


def sparse_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The old name of `precision_at_k`."""
    return precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


def sparse_average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The old name of `average_precision_at_k`."""
    return average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )


class _Found:
    """Which of the predicted classes of each row are among its labels.

    Attributes:
        labels: shape `[..., labels]`.
        hits: booleans, shape `[..., k]`.
    """

    def __init__(
        self, labels: TensorLike, predictions: TensorLike, class_id: int | None = None
    ) -> None:
        predicted, targets = convert_to_tensor(predictions), convert_to_tensor(labels)
        if targets.ndim == predicted.ndim - 1:
            targets = targets[..., None]
        if targets.shape[:-1] != predicted.shape[:-1]:
            raise ValueError(
                f"Unexpected labels shape {targets.shape} for predictions shape {predicted.shape}. Labels have the axes "
                "of predictions before the last one, and one more for several labels of a row."
            )
        self.labels = targets
        self._class, self._predicted = class_id, predicted
        self._equal = targets[..., None, :] == predicted[..., :, None]
        self.hits = self._of_class(predicted) & self._equal.any(-1)

    def _of_class(self, numbers: jax.Array) -> jax.Array:
        if self._class is None:
            return jnp.ones(numbers.shape, bool)
        return numbers == self._class

    def false_positives(self) -> jax.Array:
        """Counts predicted classes of each row that are no labels."""
        return jnp.sum(self._of_class(self._predicted) & ~self._equal.any(-1), -1)

    def false_negatives(self) -> jax.Array:
        """Counts labels of each row, each once, that are not predicted."""
        same = self.labels[..., :, None] == self.labels[..., None, :]
        is_first = ~jnp.tril(same, -1).any(-1)
        return jnp.sum(self._of_class(self.labels) & is_first & ~self._equal.any(-2), -1)


def _share(
    name: str | None,
    default: str,
    k: int | None,
    class_id: int | None,
    found: _Found,
    others: dict[str, jax.Array],
    weights: TensorLike,
    collections: Collections,
) -> Metric:
    """Computes the true positives among themselves and others."""
    counts = {"true_positive": jnp.sum(found.hits, -1), **others}
    factors = valid_weights(weights, counts["true_positive"])
    sums = {_at_k(one, k, class_id): jnp.sum(each * factors) for one, each in counts.items()}
    return streamed(
        name or _at_k(default, k, class_id), sums, lambda tp, other: tp / (tp + other), collections
    )


def _at_k(name: str, k: int | None, class_id: int | None) -> str:
    """Names as TensorFlow does: `recall_at_2`, `recall_at_2_class1`."""
    of_class = "" if class_id is None else f"_class{class_id}"
    return f"{name}_at_{'k' if k is None else k}{of_class}"
