"""What all heads have, and what those of one task share."""

import abc
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.compat.v1 import summary
from frontends.tf.compat.v1._weights import valid_weights
from frontends.tf.compat.v1.collections import GraphKeys, get_collection
from frontends.tf.compat.v1.losses import Reduction, compute_weighted_loss
from frontends.tf.compat.v1.train.steps import get_or_create_global_step
from frontends.tf.estimator.canned.heads import checks
from frontends.tf.estimator.canned.heads.label_checks import LabelCheckHook
from frontends.tf.estimator.canned.heads.metrics import HeadMetric, mean, total
from frontends.tf.estimator.canned.optimizers import optimizer_of
from frontends.tf.estimator.canned.optimizers.keras_like import KerasLikeOptimizer
from frontends.tf.estimator.estimator_spec import EstimatorSpec
from frontends.tf.estimator.export.outputs import ExportOutput
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.graph import current_graph, label_checks
from frontends.tf.ops.control_flow import group
from frontends.tf.ops.name_scope import in_name_scope, name_scope

Metrics = dict[str, HeadMetric]


class Head(abc.ABC):
    """What a task needs of a model's logits.

    Source: `tf.estimator.Head`.
    """

    # Whether it is of an estimator of TensorFlow 1.
    _is_v1 = False

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """What metrics of several heads are told apart by."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """Size of the last axis of the logits."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses of examples become one."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> jax.Array:
        """Computes the loss of a batch, with those of regularizers."""

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """Computes predictions, by name."""

    @abc.abstractmethod
    def metrics(self, regularization_losses: Iterable[Any] | None = None) -> Metrics:
        """Makes metrics, by name."""

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: Metrics,
        features: Any,
        logits: Any,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> Metrics:
        """Gives metrics a batch; returns them."""

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        """Makes what a model function returns.

        Args:
            features: of the batch.
            mode: one of `tf.estimator.ModeKeys`.
            logits: of the model.
            labels: of the batch; None to predict.
            optimizer: of `tf.keras.optimizers` or `tf.compat.v1.train`; it counts the global step.
            trainable_variables: what it trains.
            train_op_fn: instead of an optimizer: makes the operation that trains, of the loss.
            update_ops: what else runs in training, such as updates of moving averages.
            regularization_losses: what is added to the loss.

        Raises:
            ValueError: labels, logits or weights have another shape than the head needs; or there is not one of an optimizer, with
                variables, and a `train_op_fn`.

        Source: `tf.estimator.Head.create_estimator_spec`.
        """
        penalties = None if regularization_losses is None else list(regularization_losses)
        with name_scope(self.name or "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._export_outputs(predictions)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(labels, logits, features, mode, penalties)
            found = [*label_checks()]
            hooks = [LabelCheckHook(found)] if found else []
            if mode == ModeKeys.EVAL:
                metrics = self.metrics(penalties)
                self.update_metrics(metrics, features, logits, labels, mode, penalties)
                label_checks()[:] = found  # those of metrics are the same
                return EstimatorSpec(
                    mode,
                    predictions=predictions,
                    loss=loss,
                    eval_metric_ops={key: tuple(one) for key, one in metrics.items()},
                    evaluation_hooks=hooks,
                )
            train_op = self._train_op(loss, optimizer, trainable_variables, train_op_fn, update_ops)
            penalty = total(penalties)
            average = self._average_loss(loss, logits, features, penalty)
        with name_scope(""):
            self._summarize(loss, penalty, average)
        return EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, training_hooks=hooks
        )

    @abc.abstractmethod
    def _export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        """Says what models for serving give, by the names of signatures."""

    def _train_op(
        self,
        loss: jax.Array,
        optimizer: Any,
        variables: Sequence[Any] | None,
        train_op_fn: Callable[[Any], Any] | None,
        update_ops: Sequence[Any] | None,
    ) -> Any:
        if update_ops is not None and not isinstance(update_ops, (list, tuple)):
            raise ValueError(
                f"update_ops should be a list or a tuple. Given type: {type(update_ops)}."
            )
        if (optimizer is None) == (train_op_fn is None):
            state = "None" if optimizer is None else "set"
            raise ValueError(f"train_op_fn and optimizer cannot both be {state}.")
        others = list(update_ops or ())
        if self._is_v1:
            others += get_collection(GraphKeys.UPDATE_OPS)
        if train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            if variables is None and not self._is_v1:
                raise ValueError(
                    "trainable_variables cannot be None. Pass what the model has: tf.compat.v1.trainable_variables()."
                )
            made, step = optimizer_of(optimizer), get_or_create_global_step()
            if isinstance(made, KerasLikeOptimizer):
                made.iterations, step = step, None
            train_op = made.minimize(loss, step, variables)
        return group(train_op, *others) if others else train_op

    def _average_loss(
        self, loss: jax.Array, logits: Any, features: Any, penalty: jax.Array | None
    ) -> jax.Array | None:
        """Computes the mean over examples of a loss that is their sum; None if there is none to show."""
        return None

    def _summarize(
        self, loss: jax.Array, penalty: jax.Array | None, average: jax.Array | None
    ) -> None:
        """Collects what TensorBoard shows of a step."""
        summary.scalar(self._key("loss"), loss)
        if penalty is not None:
            summary.scalar(self._key("regularization_loss"), penalty)
        if average is not None:
            summary.scalar(self._key("average_loss"), average)

    def _key(self, key: str) -> str:
        """Returns the name of a metric: with several heads, they are told apart by the heads' names."""
        return f"{key}/{self.name}" if self.name else key


class TaskHead(Head):
    """A head of one task, whose loss is that of each example, by weights."""

    def __init__(
        self,
        weight_column: Any,
        loss_reduction: Any,
        loss_fn: Callable[..., Any] | None,
        name: str | None,
    ) -> None:
        """Checks what all heads take.

        Args:
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            loss_reduction: one of `tf.losses.Reduction`.
            loss_fn: computes the losses of examples, of `labels` and `logits`, and `features` if it has such a parameter.
            name: see `Head`.

        Raises:
            ValueError: there is no such reduction, or the function takes something else.
        """
        checks.check_loss_fn(loss_fn)
        self._reduction = checks.reduction_of(loss_reduction)
        self._given_reduction = loss_reduction
        self._weight_column, self._loss_fn, self._name = weight_column, loss_fn, name

    @property
    def name(self) -> str | None:
        """See `Head`."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """See `Head`."""
        return self._given_reduction

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> jax.Array:
        """Computes the loss of a batch.

        Args:
            labels: of the batch.
            logits: of the model.
            features: of the batch, for weights.
            mode: without effect.
            regularization_losses: what is added.

        Raises:
            ValueError: labels, logits or weights have another shape than the head needs, or labels are out of range.
        """
        del mode
        scores = checks.check_logits(logits, self.logits_dimension)
        _, losses, weights = self._examples(scores, labels, features)
        penalty = total(regularization_losses)
        loss = compute_weighted_loss(losses, weights, reduction=self._reduction)
        return loss if penalty is None else loss + penalty

    def update_metrics(
        self,
        eval_metrics: Metrics,
        features: Any,
        logits: Any,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> Metrics:
        """Gives metrics a batch.

        Args:
            eval_metrics: what `metrics` returned.
            features: of the batch, for weights.
            logits: of the model.
            labels: of the batch.
            mode: without effect.
            regularization_losses: as `metrics` was given them.

        Returns:
            The metrics.

        Raises:
            ValueError: see `loss`.
        """
        del mode
        scores = checks.check_logits(logits, self.logits_dimension)
        targets, losses, weights = self._examples(scores, labels, features)
        eval_metrics[self._key("average_loss")].update_state(losses, weights)
        penalty = total(regularization_losses)
        if penalty is not None:
            eval_metrics[self._key("regularization_loss")].update_state(penalty)
        self._update(eval_metrics, targets, scores, weights)
        return eval_metrics

    def metrics(self, regularization_losses: Iterable[Any] | None = None) -> Metrics:
        """Makes metrics, by name.

        Args:
            regularization_losses: None if there are none.
        """
        found = {self._key("average_loss"): mean("average_loss")}
        if regularization_losses is not None:
            found[self._key("regularization_loss")] = mean("regularization_loss")
        return found | {self._key(key): one for key, one in self._streaming_metrics().items()}

    def _examples(
        self, logits: jax.Array, labels: Any, features: Mapping[str, Any] | None
    ) -> tuple[jax.Array, jax.Array, Any]:
        """Returns labels as numbers, the losses of examples, and their weights."""
        targets = self._labels(logits, labels)
        if self._loss_fn is None:
            losses = self._losses(targets, logits)
        else:
            losses = checks.called_loss(
                self._loss_fn, targets, logits, features, self._loss_dimension
            )
        return targets, losses, self._weights(logits, features)

    def _average_loss(
        self, loss: jax.Array, logits: Any, features: Any, penalty: jax.Array | None
    ) -> jax.Array | None:
        if not self._is_v1 or self._reduction != Reduction.SUM:
            return None
        ones = jnp.ones((*logits.shape[:-1], self._loss_dimension), jnp.float32)
        weights = valid_weights(self._weights(logits, features), ones)
        of_examples = loss if penalty is None else loss - penalty
        average, graph = of_examples / jnp.sum(weights), current_graph()
        # Scripts log it by TensorFlow's name: head/truediv.
        return average if graph is None else graph.named(average, in_name_scope("truediv"))

    def _weights(self, logits: jax.Array, features: Mapping[str, Any] | None) -> Any:
        return checks.weights_of(
            features, self._weight_column, logits, per_logit=self._loss_dimension > 1
        )

    @property
    def _loss_dimension(self) -> int:
        """Size of the last axis of the losses of examples."""
        return 1

    @abc.abstractmethod
    def _labels(self, logits: jax.Array, labels: Any) -> jax.Array:
        """Makes labels numbers, and checks them."""

    @abc.abstractmethod
    def _losses(self, labels: jax.Array, logits: jax.Array) -> jax.Array:
        """Computes the losses of examples."""

    @abc.abstractmethod
    def _streaming_metrics(self) -> Metrics:
        """Makes the metrics of the task."""

    @abc.abstractmethod
    def _update(self, found: Metrics, labels: jax.Array, logits: jax.Array, weights: Any) -> None:
        """Gives them a batch."""


def of_v1(head: Head) -> Head:
    """Copies a head for an estimator of TensorFlow 1: it runs `UPDATE_OPS`, and computes areas under curves as `tf.metrics`."""
    found = copy.copy(head)
    found._is_v1 = True
    return found
