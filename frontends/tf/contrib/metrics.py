"""`tf.contrib.metrics`: metrics of `tf.metrics` by their first names, which took predictions before labels; F1, and correlations."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.compat.v1 import metrics
from frontends.tf.compat.v1._weights import valid_weights
from frontends.tf.compat.v1.metrics.streaming import Metric
from frontends.tf.compat.v1.metrics.thresholds import f1_score
from frontends.tf.contrib.correlations import streaming_covariance, streaming_pearson_correlation
from frontends.tf.ops import ranking
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.math import divide_no_nan


def accuracy(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike = None, name: str | None = None
) -> jax.Array:
    """Tells how often predictions are the labels, in this batch alone.

    Args:
        predictions: of any shape.
        labels: of the same shape.
        weights: of the entries, None is 1 each.

    Source: `tf.contrib.metrics.accuracy`.
    """
    is_correct = jnp.equal(convert_to_tensor(predictions), convert_to_tensor(labels))
    factors = valid_weights(weights, is_correct)
    return divide_no_nan(jnp.sum(is_correct * factors), jnp.sum(factors))


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int | None = None,
    dtype: DTypeLike = "int32",
    name: str | None = None,
    weights: TensorLike = None,
) -> jax.Array:
    """Counts predictions (columns) of labels (rows); see `tf.math.confusion_matrix`.

    Source: `tf.contrib.metrics.confusion_matrix`.
    """
    return ranking.confusion_matrix(labels, predictions, num_classes, weights, dtype)


def aggregate_metrics(*value_update_tuples: Metric) -> tuple[list[Any], list[Any]]:
    """Lists the values of metrics, and their updates.

    Raises:
        ValueError: there are no metrics.

    Source: `tf.contrib.metrics.aggregate_metrics`.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: Mapping[str, Metric],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tells the values of metrics by name, and their updates.

    Source: `tf.contrib.metrics.aggregate_metric_map`.
    """
    pairs = names_to_tuples.items()
    return {key: one[0] for key, one in pairs}, {key: one[1] for key, one in pairs}


def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """How often the class of a row is among the `k` that are predicted first.

    Args:
        predictions: scores, of shape `[rows, classes]`.
        labels: numbers of classes, `[rows]`.
        k: how many.
        weights: of the rows; None is 1 each.
        metrics_collections: names of the collections to which the value is added.
        updates_collections: likewise, for the update.
        name: before those of the variables.

    Source: `tf.contrib.metrics.streaming_recall_at_k`.
    """
    found = ranking.in_top_k(labels, predictions, k).astype(jnp.float32)
    return metrics.mean(
        found, weights, metrics_collections, updates_collections, name or f"recall_at_{k}"
    )


def _predictions_first(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(predictions: TensorLike, labels: TensorLike, *args: Any, **kwargs: Any) -> Any:
        return function(labels, predictions, *args, **kwargs)

    return call


_STREAMING = (
    *("accuracy", "auc", "false_negatives", "false_positives", "mean_absolute_error", "mean_iou"),
    *("mean_squared_error", "precision", "recall", "root_mean_squared_error", "true_negatives"),
    *("true_positives", "sensitivity_at_specificity", "specificity_at_sensitivity"),
    *("mean_cosine_distance", "mean_relative_error", "precision_at_thresholds"),
    *("recall_at_thresholds", "sparse_average_precision_at_k", "sparse_precision_at_k"),
)
__getattr__, __dir__ = attributes(
    "tf.contrib.metrics",
    {
        **defined_in(__name__),
        "f1_score": f1_score,
        "streaming_covariance": streaming_covariance,
        "streaming_mean": metrics.mean,
        "streaming_mean_tensor": metrics.mean_tensor,
        "streaming_pearson_correlation": streaming_pearson_correlation,
        "streaming_percentage_less": metrics.percentage_below,
        "streaming_sparse_recall_at_k": _predictions_first(metrics.recall_at_k),
        **{f"streaming_{name}": _predictions_first(getattr(metrics, name)) for name in _STREAMING},
    },
)
