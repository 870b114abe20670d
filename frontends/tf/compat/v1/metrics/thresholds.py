"""Metrics of probabilities, which thresholds turn into decisions.

Predictions lie in [0, 1], which is not checked here: TensorFlow raises where others come in. Their decisions are counted
for each threshold: a prediction above it is positive.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1._weights import require_shape, squeezed, valid_weights
from frontends.tf.compat.v1.metrics.streaming import Collections, Metric, streamed
from frontends.tf.ops.math import divide_no_nan

_EPSILON = 1e-7
_COUNTS = ("true_positives", "false_negatives", "true_negatives", "false_positives")
_Counts = dict[str, jax.Array]


def true_positives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights of true positives at each threshold.

    Args:
        labels: booleans, or numbers that are true unless 0.
        predictions: probabilities, of the same shape.
        thresholds: numbers from 0 to 1.
        weights: see `mean`.
        metrics_collections: see `mean`.
        updates_collections: see `mean`.
        name: before that of the variable, `true_positives`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.true_positives_at_thresholds`.
    """
    counts = _counted("true_positives_at_thresholds", labels, predictions, thresholds, weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(
        name or "true_positives",
        {"true_positives": counts["true_positives"]},
        lambda count: count,
        collections,
    )


def true_negatives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights of true negatives at each threshold; see `true_positives_at_thresholds`.

    Source: `tf.compat.v1.metrics.true_negatives_at_thresholds`.
    """
    counts = _counted("true_negatives_at_thresholds", labels, predictions, thresholds, weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(
        name or "true_negatives",
        {"true_negatives": counts["true_negatives"]},
        lambda count: count,
        collections,
    )


def false_positives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights of false positives at each threshold; see `true_positives_at_thresholds`.

    Source: `tf.compat.v1.metrics.false_positives_at_thresholds`.
    """
    counts = _counted("false_positives_at_thresholds", labels, predictions, thresholds, weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(
        name or "false_positives",
        {"false_positives": counts["false_positives"]},
        lambda count: count,
        collections,
    )


def false_negatives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Sum of the weights of false negatives at each threshold; see `true_positives_at_thresholds`.

    Source: `tf.compat.v1.metrics.false_negatives_at_thresholds`.
    """
    counts = _counted("false_negatives_at_thresholds", labels, predictions, thresholds, weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(
        name or "false_negatives",
        {"false_negatives": counts["false_negatives"]},
        lambda count: count,
        collections,
    )


def precision_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """True positives among what is above each threshold; see `true_positives_at_thresholds`.

    Source: `tf.compat.v1.metrics.precision_at_thresholds`.
    """
    counts = _counted("precision_at_thresholds", labels, predictions, thresholds, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _share(name or "precision_at_thresholds", counts, "false_positives", collections)


def recall_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """True positives among what is true, at each threshold; see `true_positives_at_thresholds`.

    Source: `tf.compat.v1.metrics.recall_at_thresholds`.
    """
    counts = _counted("recall_at_thresholds", labels, predictions, thresholds, weights)
    collections = Collections(metrics_collections, updates_collections)
    return _share(name or "recall_at_thresholds", counts, "false_negatives", collections)


def auc(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    num_thresholds: int = 200,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """Area under a curve through the points at thresholds.

    Args:
        labels: see `true_positives_at_thresholds`.
        predictions: likewise.
        weights: likewise.
        num_thresholds: how many thresholds, at equal distances from 0 to 1.
        metrics_collections: see `mean`.
        updates_collections: see `mean`.
        curve: `"ROC"` (recall over the share of false positives), or `"PR"` (precision over recall).
        name: before those of the variables.
        summation_method: `"trapezoidal"`, `"careful_interpolation"` (which is right for `"PR"`, other than the first),
            `"minoring"` or `"majoring"`.
        thresholds: between 0 and 1, which are added; instead of `num_thresholds`.

    Raises:
        ValueError: there is no such curve or method, or the shapes differ.

    Source: `tf.compat.v1.metrics.auc`.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
    if summation_method not in (*_HEIGHTS, "careful_interpolation"):
        raise ValueError(
            f"Invalid summation_method: {summation_method}. It should be 'trapezoidal', 'careful_interpolation', "
            "'minoring', or 'majoring'."
        )
    at = (
        _even(num_thresholds)
        if thresholds is None
        else [-_EPSILON, *sorted(thresholds), 1 + _EPSILON]
    )

    def area(tp: jax.Array, fn: jax.Array, tn: jax.Array, fp: jax.Array) -> jax.Array:
        if curve == "PR" and summation_method == "careful_interpolation":
            return _interpolated(tp, fp, fn)
        small = 1e-6
        hits = (tp + small) / (tp + fn + small)
        if curve == "ROC":
            x, y = fp / (fp + tn + small), hits
        else:
            x, y = hits, (tp + small) / (tp + fp + small)
        height = _HEIGHTS.get(summation_method, _HEIGHTS["trapezoidal"])
        return jnp.sum((x[:-1] - x[1:]) * height(y[:-1], y[1:]))

    counts = _counted("auc", labels, predictions, at, weights)
    return streamed(
        name or "auc", counts, area, Collections(metrics_collections, updates_collections)
    )


def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: TensorLike,
    specificity: float,
    weights: TensorLike = None,
    num_thresholds: int = 200,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Recall at the threshold whose share of true negatives is closest to a given one; see `auc`.

    Raises:
        ValueError: `specificity` is not from 0 to 1, or the shapes differ.

    Source: `tf.compat.v1.metrics.sensitivity_at_specificity`.
    """
    _require_share("specificity", specificity)

    def sensitivity(tp: jax.Array, fn: jax.Array, tn: jax.Array, fp: jax.Array) -> jax.Array:
        index = jnp.argmin(jnp.abs(tn / (tn + fp + _EPSILON) - specificity))
        return tp[index] / (tp[index] + fn[index] + _EPSILON)

    scope = "sensitivity_at_specificity"
    counts = _counted(scope, labels, predictions, _even(num_thresholds), weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(name or scope, counts, sensitivity, collections)


def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: TensorLike,
    sensitivity: float,
    weights: TensorLike = None,
    num_thresholds: int = 200,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Share of true negatives at the threshold whose recall is closest to a given one, the last such; see `auc`.

    Raises:
        ValueError: `sensitivity` is not from 0 to 1, or the shapes differ.

    Source: `tf.compat.v1.metrics.specificity_at_sensitivity`.
    """
    _require_share("sensitivity", sensitivity)

    def specificity(tp: jax.Array, fn: jax.Array, tn: jax.Array, fp: jax.Array) -> jax.Array:
        distance = jnp.abs(tp / (tp + fn + _EPSILON) - sensitivity)
        last = distance.shape[0] - 1 - jnp.argmin(distance[::-1])
        return tn[last] / (tn[last] + fp[last] + _EPSILON)

    scope = "specificity_at_sensitivity"
    # TensorFlow's last threshold is below 1 here.
    at = [*_even(num_thresholds)[:-1], 1 - _EPSILON]
    counts = _counted(scope, labels, predictions, at, weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(name or scope, counts, specificity, collections)


def f1_score(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    num_thresholds: int = 200,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Harmonic mean of precision and recall, at the threshold where it is the largest; see `auc`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.contrib.metrics.f1_score`.
    """

    def best(tp: jax.Array, fn: jax.Array, fp: jax.Array) -> jax.Array:
        precision, recall = tp / (_EPSILON + tp + fp), tp / (_EPSILON + tp + fn)
        return jnp.max(2 * precision * recall / (precision + recall + _EPSILON))

    counts = _counted("f1_score", labels, predictions, _even(num_thresholds), weights)
    del counts["true_negatives"]
    collections = Collections(metrics_collections, updates_collections)
    return streamed(name or "f1", counts, best, collections)


# The height of a bar between two points.
_HEIGHTS: dict[str, Callable[[jax.Array, jax.Array], jax.Array]] = {
    "trapezoidal": lambda left, right: (left + right) / 2,
    "minoring": jnp.minimum,
    "majoring": jnp.maximum,
}


def _even(count: int) -> list[float]:
    """Lists thresholds at equal distances; the first and the last are beyond 0 and 1."""
    return [-_EPSILON, *((i + 1) / (count - 1) for i in range(count - 2)), 1 + _EPSILON]


def _require_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1]. Currently, `{name}` got {value}.")


def _counted(
    caller: str,
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike,
) -> _Counts:
    """Counts right and wrong decisions at each threshold."""
    targets, outputs = squeezed(labels, predictions)
    require_shape(caller, targets, outputs)
    factors = valid_weights(weights, outputs).ravel()
    is_true = targets.ravel() != 0
    at = np.asarray(thresholds, np.float32)[:, None]
    above = outputs.astype(jnp.float32).ravel() > at

    def summed(where: jax.Array) -> jax.Array:
        return jnp.sum(jnp.where(where, factors, 0), axis=1)

    cases = is_true & above, is_true & ~above, ~is_true & ~above, ~is_true & above
    return dict(zip(_COUNTS, map(summed, cases), strict=True))


def _share(name: str, counts: _Counts, others: str, collections: Collections) -> Metric:
    """Computes the true positives among themselves and others."""
    sums = {one: counts[one] for one in ("true_positives", others)}
    return streamed(name, sums, lambda tp, other: tp / (_EPSILON + tp + other), collections)


def _interpolated(tp: jax.Array, fp: jax.Array, fn: jax.Array) -> jax.Array:
    """Computes the area below precision over recall, with counts, not their quotients, that change linearly.

    Source: Davis and Goadrich, "The Relationship Between Precision-Recall and ROC Curves", 2006.
    """
    positive = tp + fp
    gained, before, after = tp[:-1] - tp[1:], positive[:-1], positive[1:]
    slope = divide_no_nan(gained, jnp.maximum(before - after, 0))
    intercept = tp[1:] - slope * after
    both = (before > 0) & (after > 0)
    ratio = jnp.where(both, divide_no_nan(before, jnp.maximum(after, 0)), 1)
    areas = slope * (gained + intercept * jnp.log(ratio))
    return jnp.sum(divide_no_nan(areas, jnp.maximum(tp[1:] + fn[1:], 0)))
