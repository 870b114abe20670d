"""Two classes, of which one logit tells the probability of the second."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nn
from frontends.tf.compat.v1 import metrics
from frontends.tf.estimator.canned.heads import checks
from frontends.tf.estimator.canned.heads.head import Metrics, TaskHead
from frontends.tf.estimator.canned.heads.metrics import baseline, mean, of_pair
from frontends.tf.estimator.canned.heads.serving import of_classes
from frontends.tf.estimator.canned.heads.vocabulary import (
    check_keys,
    check_no_texts,
    check_thresholds,
    vocabulary_of,
)
from frontends.tf.estimator.export.outputs import ExportOutput, RegressionOutput
from frontends.tf.feature_column.class_names import ClassNames, all_ids, of_numbers

_KEYS = (
    *("logits", "logistic", "probabilities", "class_ids", "classes", "all_class_ids"),
    "all_classes",
)


class BinaryClassHead(TaskHead):
    """Labels 0 and 1, or two texts; the loss is the cross entropy of a logit.

    Source: `tf.estimator.BinaryClassHead`.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Describes the task.

        Args:
            weight_column: see `TaskHead`.
            thresholds: of probabilities, from which on a row is in the second class, for more metrics.
            label_vocabulary: the texts that labels are; None if they are numbers.
            loss_reduction: see `TaskHead`.
            loss_fn: see `TaskHead`.
            name: see `Head`.

        Raises:
            ValueError: an argument is not what it should be.
        """
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._vocabulary = vocabulary_of(label_vocabulary)
        self._thresholds = check_thresholds(thresholds)

    @property
    def logits_dimension(self) -> int:
        """One."""
        return 1

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Computes predictions, by name.

        Args:
            logits: `[rows, 1]`.
            keys: which; None for all: `logits`, `logistic`, `probabilities`, `class_ids`, `classes`, `all_class_ids` and
                `all_classes`.

        Raises:
            ValueError: there is no such prediction, or logits have another shape.
        """
        wanted, scores = check_keys(keys, _KEYS), checks.check_logits(logits, 1)
        both = jnp.concatenate([jnp.zeros_like(scores), scores], -1)
        ids = jnp.argmax(both, -1)[..., None]
        every = all_ids(scores.shape[0], 2)
        names = of_numbers(2) if self._vocabulary is None else self._vocabulary.words
        found = {
            "logits": scores,
            "logistic": jax.nn.sigmoid(scores),
            "probabilities": jax.nn.softmax(both, -1),
            "class_ids": ids,
            "classes": ClassNames(ids, names),
            "all_class_ids": every,
            "all_classes": ClassNames(every, names),
        }
        return {key: found[key] for key in found if key in wanted}

    def _export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        found = of_classes(predictions, predictions["all_classes"])
        return found | {"regression": RegressionOutput(predictions["logistic"])}

    def _labels(self, logits: jax.Array, labels: Any) -> jax.Array:
        targets = checks.check_labels(labels, logits, 1)
        if self._vocabulary is not None:
            targets = self._vocabulary.find(targets)
        words = None if self._vocabulary is None else self._vocabulary.words
        check_no_texts(targets)
        return checks.check_range(jnp.asarray(targets, jnp.float32), 2, words=words)

    def _losses(self, labels: jax.Array, logits: jax.Array) -> jax.Array:
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _streaming_metrics(self) -> Metrics:
        method = {} if self._is_v1 else {"summation_method": "careful_interpolation"}
        found = {
            "accuracy": of_pair(metrics.accuracy, "accuracy"),
            "precision": of_pair(metrics.precision, "precision"),
            "recall": of_pair(metrics.recall, "recall"),
            "prediction/mean": mean("prediction/mean"),
            "label/mean": mean("label/mean"),
            "accuracy_baseline": baseline("accuracy_baseline"),
            "auc": of_pair(metrics.auc, "auc", **method),
            "auc_precision_recall": of_pair(
                metrics.auc, "auc_precision_recall", curve="PR", **method
            ),
        }
        for threshold in self._thresholds:
            for kind in ("accuracy", "precision", "recall"):
                key = f"{kind}/positive_threshold_{threshold:g}"
                found[key] = of_pair(getattr(metrics, kind), key)
        return found

    def _update(self, found: Metrics, labels: jax.Array, logits: jax.Array, weights: Any) -> None:
        of = self.predictions(logits, ["logistic", "class_ids"])
        logistic = of["logistic"]
        for key in ("accuracy", "precision", "recall"):
            found[self._key(key)].update_state(labels, of["class_ids"], weights)
        for key, values in (("prediction/mean", logistic), ("label/mean", labels)):
            found[self._key(key)].update_state(values, weights)
        found[self._key("accuracy_baseline")].update_state(labels, weights)
        for key in ("auc", "auc_precision_recall"):
            found[self._key(key)].update_state(labels, logistic, weights)
        update_thresholds(found, self._key, self._thresholds, labels, logistic, weights)


def update_thresholds(
    found: Metrics,
    key_of: Callable[[str], str],
    thresholds: Sequence[float],
    labels: jax.Array,
    probabilities: jax.Array,
    weights: Any,
) -> None:
    """Gives a batch to the metrics of decisions at thresholds."""
    for threshold in thresholds:
        decisions = (probabilities > threshold).astype(jnp.float32)
        for kind in ("accuracy", "precision", "recall"):
            key = key_of(f"{kind}/positive_threshold_{threshold:g}")
            found[key].update_state(labels, decisions, weights)
