"""`tf.contrib.metrics`: metrics of `tf.metrics` by their first names, which took predictions before labels; and F1."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._names import attributes
from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1 import metrics
from frontends.tf.compat.v1._weights import valid_weights
from frontends.tf.compat.v1.metrics.thresholds import f1_score
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


def _predictions_first(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(predictions: TensorLike, labels: TensorLike, *args: Any, **kwargs: Any) -> Any:
        return function(labels, predictions, *args, **kwargs)

    return call


_STREAMING = (
    *("accuracy", "auc", "false_negatives", "false_positives", "mean_absolute_error", "mean_iou"),
    *("mean_squared_error", "precision", "recall", "root_mean_squared_error", "true_negatives"),
    *("true_positives", "sensitivity_at_specificity", "specificity_at_sensitivity"),
)
__getattr__, __dir__ = attributes(
    "tf.contrib.metrics",
    {
        "accuracy": accuracy,
        "f1_score": f1_score,
        "streaming_mean": metrics.mean,
        **{f"streaming_{name}": _predictions_first(getattr(metrics, name)) for name in _STREAMING},
    },
)
