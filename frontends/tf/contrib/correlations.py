"""Covariance and correlation over batches, as `tf.contrib.metrics` has them."""

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1._weights import fitted
from frontends.tf.compat.v1.metrics.streaming import Collections, Metric, streamed
from frontends.tf.ops.convert import convert_to_tensor


def streaming_covariance(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Unbiased sample covariance of two arrays; NaN of less than two entries.

    What differs here: sums of products are kept, not of distances from the mean. Where the mean is thousands of times the
    standard deviation, digits are lost.

    Args:
        predictions: of any shape.
        labels: of the same shape.
        weights: how often each entry counts; None is once.
        metrics_collections: names of the collections to which the value is added.
        updates_collections: likewise, for the update.
        name: before those of the variables.

    Returns:
        The value, and the update.

    Raises:
        ValueError: the shapes differ.

    Source: `tf.contrib.metrics.streaming_covariance`.
    """
    sums = _sums("streaming_covariance", predictions, labels, weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(name or "covariance", sums, _covariance, collections)


def streaming_pearson_correlation(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike = None,
    metrics_collections: list[str] | None = None,
    updates_collections: list[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Pearson's correlation of two arrays, from -1 to 1; NaN where one of them does not vary. See `streaming_covariance`.

    Source: `tf.contrib.metrics.streaming_pearson_correlation`.
    """
    sums = _sums("streaming_pearson_correlation", predictions, labels, weights)
    collections = Collections(metrics_collections, updates_collections)
    return streamed(name or "pearson_r", sums, _correlation, collections)


def _sums(
    what: str, predictions: TensorLike, labels: TensorLike, weights: TensorLike
) -> dict[str, jax.Array]:
    x, y = (convert_to_tensor(one).astype(jnp.float32) for one in (predictions, labels))
    if x.shape != y.shape:
        raise ValueError(
            f"{what}: predictions and labels must have one shape, got {x.shape} and {y.shape}."
        )
    factors = jnp.ones((), jnp.float32) if weights is None else fitted(weights, x)
    terms = {"x": x, "y": y, "x_squared": x * x, "y_squared": y * y, "product": x * y}
    count = jnp.sum(jnp.broadcast_to(factors, x.shape))
    return {"count": count, **{key: jnp.sum(one * factors) for key, one in terms.items()}}


def _covariance(
    count: jax.Array,
    x: jax.Array,
    y: jax.Array,
    x_squared: jax.Array,
    y_squared: jax.Array,
    product: jax.Array,
) -> jax.Array:
    return jnp.where(count > 1, (product - x * y / count) / (count - 1), jnp.nan)


def _correlation(
    count: jax.Array,
    x: jax.Array,
    y: jax.Array,
    x_squared: jax.Array,
    y_squared: jax.Array,
    product: jax.Array,
) -> jax.Array:
    spread = (x_squared - x * x / count) * (y_squared - y * y / count)
    found = (product - x * y / count) / jnp.sqrt(jnp.maximum(spread, 0))
    return jnp.where(count > 1, found, jnp.nan)
