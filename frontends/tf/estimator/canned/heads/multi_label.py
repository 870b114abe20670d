"""Classes of which a row may be in several."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nn
from frontends.tf.compat.v1 import metrics
from frontends.tf.estimator.canned.heads import checks
from frontends.tf.estimator.canned.heads.binary import update_thresholds
from frontends.tf.estimator.canned.heads.head import Metrics, TaskHead
from frontends.tf.estimator.canned.heads.metrics import mean, of_pair
from frontends.tf.estimator.canned.heads.serving import of_classes
from frontends.tf.estimator.canned.heads.vocabulary import (
    check_keys,
    check_no_texts,
    check_thresholds,
    vocabulary_of,
)
from frontends.tf.estimator.export.outputs import ExportOutput
from frontends.tf.feature_column.class_names import ClassNames, all_ids, of_numbers

_KEYS = "logits", "probabilities", "classes"
_CAREFUL = {"summation_method": "careful_interpolation"}


class MultiLabelHead(TaskHead):
    """Labels are 0 or 1 for each class; the loss is the mean of their cross entropies.

    What differs here: there are no sparse labels, and so no texts.

    Source: `tf.estimator.MultiLabelHead`.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Describes the task.

        Args:
            n_classes: how many classes there are, more than one.
            weight_column: see `TaskHead`.
            thresholds: of probabilities, from which on a row is in a class, for more metrics.
            label_vocabulary: names of the classes.
            loss_reduction: see `TaskHead`.
            loss_fn: see `TaskHead`.
            classes_for_class_based_metrics: numbers or names of classes that have metrics of their own.
            name: see `Head`.

        Raises:
            ValueError: an argument is not what it should be.
        """
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-label classification. Given: {n_classes}"
            )
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._count = int(n_classes)
        self._thresholds = check_thresholds(thresholds)
        self._vocabulary = vocabulary_of(label_vocabulary, self._count)
        self._classes = [self._class_of(one) for one in classes_for_class_based_metrics or ()]

    def _class_of(self, given: Any) -> int:
        if isinstance(given, str):
            if self._vocabulary is None:
                raise ValueError(
                    "label_vocabulary must be provided when classes_for_class_based_metrics are strings."
                )
            return self._vocabulary.words.index(given)
        if not 0 <= given < self._count:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {self._count - 1}]. Given: {given}"
            )
        return int(given)

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._count

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Computes predictions, by name.

        Args:
            logits: `[rows, n_classes]`.
            keys: which; None for all: `logits`, `probabilities` and `classes`.

        Raises:
            ValueError: there is no such prediction, or logits have another shape.
        """
        wanted, scores = check_keys(keys, _KEYS), checks.check_logits(logits, self._count)
        names = of_numbers(self._count) if self._vocabulary is None else self._vocabulary.words
        found = {
            "logits": scores,
            "probabilities": jax.nn.sigmoid(scores),
            "classes": ClassNames(all_ids(scores.shape[0], self._count), names),
        }
        return {key: found[key] for key in found if key in wanted}

    def _export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        return of_classes(predictions, predictions["classes"])

    def _labels(self, logits: jax.Array, labels: Any) -> jax.Array:
        targets = checks.check_labels(labels, logits, self._count)
        check_no_texts(targets)
        return checks.check_range(
            targets, 2, "labels must be an integer indicator Tensor with values in [0, 1]"
        )

    def _losses(self, labels: jax.Array, logits: jax.Array) -> jax.Array:
        targets = jnp.asarray(labels, logits.dtype)
        losses = nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
        return jnp.mean(losses, -1, keepdims=True)

    def _streaming_metrics(self) -> Metrics:
        found = _areas("")
        for threshold in self._thresholds:
            for kind in ("accuracy", "precision", "recall"):
                key = f"{kind}/positive_threshold_{threshold:g}"
                found[key] = of_pair(getattr(metrics, kind), key)
        for each in self._classes:
            end = self._end(each)
            found[f"probability_mean{end}"] = mean(f"probability_mean{end}")
            found |= _areas(end)
        return found

    def _update(self, found: Metrics, labels: jax.Array, logits: jax.Array, weights: Any) -> None:
        probabilities = self.predictions(logits, ["probabilities"])["probabilities"]
        for key in _areas(""):
            found[self._key(key)].update_state(labels, probabilities, weights)
        update_thresholds(found, self._key, self._thresholds, labels, probabilities, weights)
        for each in self._classes:
            end, of = self._end(each), probabilities[..., each : each + 1]
            found[self._key(f"probability_mean{end}")].update_state(of, weights)
            for key in _areas(end):
                found[self._key(key)].update_state(labels[..., each : each + 1], of, weights)

    def _end(self, number: int) -> str:
        """Returns what the names of a class's metrics end with."""
        return (
            f"/class{number}" if self._vocabulary is None else f"/{self._vocabulary.words[number]}"
        )


def _areas(end: str) -> Metrics:
    of_pr = of_pair(metrics.auc, f"auc_precision_recall{end}", curve="PR", **_CAREFUL)
    return {
        f"auc{end}": of_pair(metrics.auc, f"auc{end}", **_CAREFUL),
        f"auc_precision_recall{end}": of_pr,
    }
