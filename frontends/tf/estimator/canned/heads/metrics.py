"""Metrics of heads: made first, given a batch later, as pairs of a value and an update."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.compat.v1 import metrics
from frontends.tf.compat.v1._weights import valid_weights
from frontends.tf.compat.v1.metrics.streaming import Collections, streamed
from frontends.tf.ops.math import add_n, divide_no_nan


class HeadMetric:
    """A metric that `Head.metrics` makes and `Head.update_metrics` gives a batch; unpacked, it is a value and an update.

    It stands where TensorFlow has a metric of Keras, in `eval_metric_ops` too.
    """

    def __init__(self, compute: Callable[..., tuple[Any, Any]]) -> None:
        """Makes a metric.

        Args:
            compute: makes the pair, of what `update_state` is given.
        """
        self._compute = compute
        self._pair: tuple[Any, Any] | None = None

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch; returns the update."""
        self._pair = self._compute(*args, **kwargs)
        return self._pair[1]

    def result(self) -> Any:
        """Returns the value.

        Raises:
            ValueError: there was no batch.
        """
        return next(iter(self))

    def __iter__(self) -> Iterator[Any]:
        if self._pair is None:
            raise ValueError("The metric has no batch yet. Call update_metrics of its head.")
        return iter(self._pair)


def mean(name: str) -> HeadMetric:
    """Makes a mean of values, by weights."""
    return HeadMetric(lambda values, weights=None: metrics.mean(values, weights, name=name))


def of_pair(function: Callable[..., Any], name: str, **options: Any) -> HeadMetric:
    """Makes a metric of labels and predictions, by weights.

    Args:
        function: of `tf.compat.v1.metrics`.
        name: of the variables.
        **options: for it.
    """

    def compute(labels: Any, predictions: Any, weights: Any = None) -> tuple[Any, Any]:
        weights = None if weights is None else jnp.broadcast_to(weights, predictions.shape)
        return function(
            labels=labels, predictions=predictions, weights=weights, name=name, **options
        )

    return HeadMetric(compute)


def baseline(name: str) -> HeadMetric:
    """Makes the accuracy of what always predicts the more frequent of two labels."""

    def larger(total: jax.Array, count: jax.Array) -> jax.Array:
        share = divide_no_nan(total, jnp.maximum(count, 0))
        return jnp.maximum(share, 1 - share)

    def compute(labels: Any, weights: Any = None) -> tuple[Any, Any]:
        factors = valid_weights(weights, labels)
        sums = {"total": jnp.sum(labels * factors), "count": jnp.sum(factors)}
        return streamed(name, sums, larger, Collections())

    return HeadMetric(compute)


def total(losses: Any) -> jax.Array | None:
    """Adds up regularization losses; None for none."""
    return None if losses is None else add_n(list(losses))
