"""Calls of metrics, on two batches of four rows; TensorFlow and the front end run the same ones."""

from collections.abc import Callable
from typing import Any

import numpy as np

ROWS = 4
_scores = np.array(
    [
        [[0.1, 0.7, 0.2], [0.5, 0.2, 0.3], [0.3, 0.3, 0.4], [0.6, 0.1, 0.3]],
        [[0.2, 0.2, 0.6], [0.4, 0.5, 0.1], [0.1, 0.8, 0.1], [0.3, 0.45, 0.25]],
    ],
    np.float32,
)
_batches = {
    "labels": np.array([[0, 1, 1, 0], [1, 1, 0, 1]]),
    "decisions": np.array([[1, 1, 1, 0], [1, 0, 0, 1]]),
    "probabilities": np.array([[0.1, 0.8, 0.35, 0.6], [0.9, 0.45, 0.05, 0.55]], np.float32),
    "numbers": np.array([[0.5, 1.5, -1.0, 2.0], [3.0, 0.0, 1.0, -0.5]], np.float32),
    "guesses": np.array([[0.25, 1.0, -0.5, 2.5], [2.0, 0.5, 1.5, -1.5]], np.float32),
    "classes": np.array([[0, 2, 1, 1], [2, 0, 1, 2]]),
    "chosen": np.array([[0, 1, 1, 2], [2, 0, 1, 1]]),
    "scores": _scores,
    "best": np.argsort(-_scores, kind="stable")[..., :2],
    "weights": np.array([[0.0, 0.5, 2.0, 1.5], [1.0, 1.0, 0.25, 3.0]], np.float32),
}
BATCHES = [{name: array[index] for name, array in _batches.items()} for index in range(2)]

# Calls with the module, a batch, and `weights=` or nothing.
Call = Callable[[Any, dict[str, Any], dict[str, Any]], tuple[Any, Any]]


def _of(name: str, first: str, second: str, *more: Any, **options: Any) -> Call:
    return lambda metrics, batch, weights: getattr(metrics, name)(
        batch[first], batch[second], *more, **options, **weights
    )


def _cosines(metrics: Any, batch: dict[str, Any], weights: dict[str, Any]) -> tuple[Any, Any]:
    columns = {name: value[:, None] for name, value in weights.items()}
    return metrics.mean_cosine_distance(batch["scores"], batch["scores"][::-1], 1, **columns)


_THRESHOLDS = [0.2, 0.5, 0.7]
_COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives")
CASES: dict[str, Call] = {
    "mean": lambda metrics, batch, weights: metrics.mean(batch["numbers"], **weights),
    "mean_tensor": lambda metrics, batch, weights: metrics.mean_tensor(batch["numbers"], **weights),
    "percentage_below": lambda metrics, batch, weights: metrics.percentage_below(
        batch["numbers"], 0.75, **weights
    ),
    "mean_cosine_distance": _cosines,
    "mean_relative_error": lambda metrics, batch, weights: metrics.mean_relative_error(
        batch["numbers"], batch["guesses"], batch["numbers"], **weights
    ),
    **{
        name: _of(name, "numbers", "guesses")
        for name in ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error")
    },
    **{
        name: _of(name, "labels", "decisions")
        for name in ("accuracy", "precision", "recall", *_COUNTS)
    },
    **{
        f"{name}_at_thresholds": _of(
            f"{name}_at_thresholds", "labels", "probabilities", _THRESHOLDS
        )
        for name in ("precision", "recall", *_COUNTS)
    },
    **{name: _of(name, "classes", "chosen", 3) for name in ("mean_per_class_accuracy", "mean_iou")},
    "auc": _of("auc", "labels", "probabilities"),
    "auc of PR": _of("auc", "labels", "probabilities", curve="PR"),
    "auc, interpolated": _of(
        "auc",
        "labels",
        "probabilities",
        curve="PR",
        summation_method="careful_interpolation",
        num_thresholds=20,
    ),
    "auc, minoring": _of(
        "auc", "labels", "probabilities", summation_method="minoring", num_thresholds=5
    ),
    "auc, majoring": _of(
        "auc", "labels", "probabilities", summation_method="majoring", thresholds=_THRESHOLDS
    ),
    **{
        name: _of(name, "labels", "probabilities", 0.6)
        for name in ("sensitivity_at_specificity", "specificity_at_sensitivity")
    },
    "precision_at_k": _of("precision_at_k", "classes", "scores", 2),
    "precision_at_k of a class": _of("precision_at_k", "classes", "scores", 2, class_id=1),
    "precision_at_top_k": _of("precision_at_top_k", "classes", "best"),
    "recall_at_k": _of("recall_at_k", "classes", "scores", 2),
    "recall_at_k of a class": _of("recall_at_k", "classes", "scores", 2, class_id=2),
    "recall_at_top_k": _of("recall_at_top_k", "classes", "best", 2),
    "average_precision_at_k": _of("average_precision_at_k", "classes", "scores", 2),
}
# TensorFlow cannot make the variables of these in two replicas.
ON_ONE_REPLICA = {name for name in CASES if "_k" in name}
