"""Numbers to be predicted."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nn
from frontends.tf.estimator.canned.heads import checks
from frontends.tf.estimator.canned.heads.head import Metrics, TaskHead
from frontends.tf.estimator.canned.heads.metrics import mean
from frontends.tf.estimator.canned.heads.serving import of_numbers
from frontends.tf.estimator.canned.heads.vocabulary import check_keys, check_no_texts
from frontends.tf.estimator.export.outputs import ExportOutput
from frontends.tf.ops.math import squared_difference_


class RegressionHead(TaskHead):
    """Labels are numbers; the loss is the squared difference.

    Source: `tf.estimator.RegressionHead`.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Describes the task.

        Args:
            label_dimension: how many numbers a row has.
            weight_column: see `TaskHead`.
            loss_reduction: see `TaskHead`.
            loss_fn: see `TaskHead`.
            inverse_link_fn: makes predictions of logits; None takes them as they are.
            name: see `Head`.

        Raises:
            ValueError: an argument is not what it should be.
        """
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._size, self._inverse_link_fn = int(label_dimension), inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """How many numbers a row has."""
        return self._size

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Computes predictions, by name.

        Args:
            logits: `[rows, label_dimension]`.
            keys: which; None for all: `predictions`, and with an inverse link `logits`.

        Raises:
            ValueError: there is no such prediction, or logits have another shape.
        """
        scores = checks.check_logits(logits, self._size)
        found = {"predictions": scores}
        if self._inverse_link_fn is not None:
            found = {"predictions": self._inverse_link_fn(scores), "logits": scores}
        wanted = check_keys(keys, list(found))
        return {key: found[key] for key in found if key in wanted}

    def _export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        return of_numbers(predictions)

    @property
    def _loss_dimension(self) -> int:
        return self._size

    def _labels(self, logits: jax.Array, labels: Any) -> jax.Array:
        targets = checks.check_labels(labels, logits, self._size)
        check_no_texts(targets)
        return jnp.asarray(targets, jnp.float32)

    def _losses(self, labels: jax.Array, logits: jax.Array) -> jax.Array:
        return squared_difference_(labels, logits)

    def _streaming_metrics(self) -> Metrics:
        return {key: mean(key) for key in ("prediction/mean", "label/mean")}

    def _update(self, found: Metrics, labels: jax.Array, logits: jax.Array, weights: Any) -> None:
        values = self.predictions(logits, ["predictions"])["predictions"]
        found[self._key("prediction/mean")].update_state(values, weights)
        found[self._key("label/mean")].update_state(labels, weights)


class PoissonRegressionHead(RegressionHead):
    """Labels are counts; the loss is the negative log-likelihood of a Poisson distribution, whose mean's logarithm is the logit.

    Source: `tf.estimator.PoissonRegressionHead`.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        """Describes the task.

        Args:
            label_dimension: see `RegressionHead`.
            weight_column: see `TaskHead`.
            loss_reduction: see `TaskHead`.
            compute_full_loss: whether the loss has the logarithm of the factorial, by Stirling's formula.
            name: see `Head`.
        """

        def loss_fn(labels: Any, logits: Any) -> jax.Array:
            losses = jnp.exp(logits) - logits * labels
            return losses + _log_factorial(labels) if compute_full_loss else losses

        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, jnp.exp, name)


def _log_factorial(counts: jax.Array) -> jax.Array:
    """Approximates the logarithm of factorials by Stirling's formula; 0 for 0 and 1."""
    large = jnp.where(counts > 1, counts, 2.0)  # for the others, whose gradients would be NaN
    found = large * jnp.log(large) - large + 0.5 * jnp.log(2 * jnp.pi * large)
    return jnp.where(counts > 1, found, 0.0)


class LogisticRegressionHead(RegressionHead):
    """Labels are from 0 to 1; the loss is the cross entropy of a logit.

    Source: `tf.estimator.LogisticRegressionHead`.
    """

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        name: str | None = None,
    ) -> None:
        """Describes the task.

        Args:
            weight_column: see `TaskHead`.
            loss_reduction: see `TaskHead`.
            name: see `Head`.
        """

        def loss_fn(labels: Any, logits: Any) -> jax.Array:
            targets = checks.check_range(labels, 2, "Labels must be in range [0, 1]")
            return nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)

        super().__init__(1, weight_column, loss_reduction, loss_fn, jax.nn.sigmoid, name)
