"""Metrics that are weighted means of something of each row."""

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1._weights import fitted, require_shape, squeezed, valid_weights
from frontends.tf.compat.v1.metrics.streaming import Collections, Metric, streamed
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.math import divide_no_nan, squared_difference_


def mean(
    values: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Weighted mean of values; 0 of none.

    Args:
        values: an array of any shape.
        weights: one number, or an array that broadcasts to the values and has as many axes; None weighs all alike.
        metrics_collections: names of the collections to which the value is added.
        updates_collections: likewise, for the update.
        name: before those of the variables, `total` and `count`.

    Returns:
        The value, and the update.

    Raises:
        ValueError: the shape of the weights does not fit.

    Source: `tf.compat.v1.metrics.mean`.
    """
    collections = Collections(metrics_collections, updates_collections)
    return _mean(values, weights, collections, name or "mean")


def mean_tensor(
    values: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Weighted mean of each element of an array over batches; its shape stays the same. See `mean`.

    Its first axis is not taken for rows: if it is, give padding no weight.

    Source: `tf.compat.v1.metrics.mean_tensor`.
    """
    array = jnp.asarray(convert_to_tensor(values), jnp.float32)
    factors = jnp.ones((), jnp.float32) if weights is None else fitted(weights, array)
    factors = jnp.broadcast_to(factors, array.shape)
    sums = {"total_tensor": array * factors, "count_tensor": factors}
    collections = Collections(metrics_collections, updates_collections)
    return streamed(name or "mean", sums, _quotient, collections)


def accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """How often predictions, cast to the dtype of the labels, are the labels; see `mean`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.accuracy`.
    """
    targets, outputs = _pair("accuracy", labels, predictions)
    is_correct = jnp.equal(outputs.astype(targets.dtype), targets)
    collections = Collections(metrics_collections, updates_collections)
    return _mean(is_correct, weights, collections, name or "accuracy")


def mean_absolute_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Mean of absolute differences; see `mean`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.mean_absolute_error`.
    """
    targets, outputs = _pair("mean_absolute_error", labels, predictions)
    collections = Collections(metrics_collections, updates_collections)
    return _mean(jnp.abs(outputs - targets), weights, collections, name or "mean_absolute_error")


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Mean of squared differences; see `mean`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.mean_squared_error`.
    """
    targets, outputs = _pair("mean_squared_error", labels, predictions)
    squares = squared_difference_(targets, outputs)
    collections = Collections(metrics_collections, updates_collections)
    return _mean(squares, weights, collections, name or "mean_squared_error")


def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Root of the mean of squared differences; see `mean`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.root_mean_squared_error`.
    """
    targets, outputs = _pair("root_mean_squared_error", labels, predictions)
    sums = _sums(squared_difference_(targets, outputs), weights)
    collections = Collections(metrics_collections, updates_collections)
    scope = name or "root_mean_squared_error"
    return streamed(scope, sums, lambda t, c: jnp.sqrt(_quotient(t, c)), collections)


def mean_relative_error(
    labels: TensorLike,
    predictions: TensorLike,
    normalizer: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Mean of absolute differences, each divided by its normalizer; 0 where that is 0. See `mean`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.mean_relative_error`.
    """
    targets, outputs = _pair("mean_relative_error", labels, predictions)
    outputs, divisors = _pair("mean_relative_error (normalizer)", outputs, normalizer)
    errors = divide_no_nan(jnp.abs(targets - outputs), divisors)
    collections = Collections(metrics_collections, updates_collections)
    return _mean(errors, weights, collections, name or "mean_relative_error")


def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: int,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """1 minus the mean of cosines of unit vectors along an axis, whose size is 1 in weights; see `mean`.

    Raises:
        ValueError: the shapes differ in more than a last axis of size 1.

    Source: `tf.compat.v1.metrics.mean_cosine_distance`.
    """
    targets, outputs = _pair("mean_cosine_distance", labels, predictions)
    sums = _sums(jnp.sum(outputs * targets, axis=dim, keepdims=True), weights)
    collections = Collections(metrics_collections, updates_collections)
    scope = name or "mean_cosine_distance"
    return streamed(scope, sums, lambda t, c: 1 - _quotient(t, c), collections)


def percentage_below(
    values: TensorLike,
    threshold: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """How many of the values are below a threshold, from 0 to 1; see `mean`.

    Source: `tf.compat.v1.metrics.percentage_below`.
    """
    is_below = jnp.less(convert_to_tensor(values), convert_to_tensor(threshold))
    collections = Collections(metrics_collections, updates_collections)
    return _mean(is_below, weights, collections, name or "percentage_below_threshold")


def _pair(caller: str, labels: TensorLike, predictions: TensorLike) -> tuple[jax.Array, jax.Array]:
    targets, outputs = squeezed(labels, predictions)
    require_shape(caller, targets, outputs)
    return targets, outputs


def _mean(values: TensorLike, weights: TensorLike, collections: Collections, name: str) -> Metric:
    return streamed(name, _sums(values, weights), _quotient, collections)


def _sums(values: TensorLike, weights: TensorLike) -> dict[str, jax.Array]:
    array = jnp.asarray(convert_to_tensor(values), jnp.float32)
    factors = valid_weights(weights, array)
    return {
        "total": jnp.sum(jnp.where(factors == 0, 0, array * factors)),
        "count": jnp.sum(factors),
    }


def _quotient(total: jax.Array, count: jax.Array) -> jax.Array:
    return divide_no_nan(total, jnp.maximum(count, 0))
