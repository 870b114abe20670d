"""More than two classes, of which a row is in one."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nn
from frontends.tf.compat.v1 import metrics
from frontends.tf.estimator.canned.heads import checks
from frontends.tf.estimator.canned.heads.head import Metrics, TaskHead
from frontends.tf.estimator.canned.heads.metrics import of_pair
from frontends.tf.estimator.canned.heads.serving import of_classes
from frontends.tf.estimator.canned.heads.vocabulary import (
    check_keys,
    check_no_texts,
    vocabulary_of,
)
from frontends.tf.estimator.export.outputs import ExportOutput
from frontends.tf.feature_column.class_names import ClassNames, all_ids, of_numbers

_KEYS = "logits", "probabilities", "class_ids", "classes", "all_class_ids", "all_classes"


class MultiClassHead(TaskHead):
    """Labels from 0 to `n_classes - 1`, or texts; the loss is the cross entropy of logits.

    Source: `tf.estimator.MultiClassHead`.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Describes the task.

        Args:
            n_classes: how many classes there are, more than two.
            weight_column: see `TaskHead`.
            label_vocabulary: the texts that labels are; None if they are numbers.
            loss_reduction: see `TaskHead`.
            loss_fn: see `TaskHead`.
            name: see `Head`.

        Raises:
            ValueError: an argument is not what it should be.
        """
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._count = int(n_classes)
        self._vocabulary = vocabulary_of(label_vocabulary, self._count)

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._count

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Computes predictions, by name.

        Args:
            logits: `[rows, n_classes]`.
            keys: which; None for all: `logits`, `probabilities`, `class_ids`, `classes`, `all_class_ids` and `all_classes`.

        Raises:
            ValueError: there is no such prediction, or logits have another shape.
        """
        wanted, scores = check_keys(keys, _KEYS), checks.check_logits(logits, self._count)
        ids = jnp.argmax(scores, -1)[..., None]
        every = all_ids(scores.shape[0], self._count)
        names = of_numbers(self._count) if self._vocabulary is None else self._vocabulary.words
        found = {
            "logits": scores,
            "probabilities": jax.nn.softmax(scores, -1),
            "class_ids": ids,
            "classes": ClassNames(ids, names),
            "all_class_ids": every,
            "all_classes": ClassNames(every, names),
        }
        return {key: found[key] for key in found if key in wanted}

    def _export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        return of_classes(predictions, predictions["all_classes"])

    def _labels(self, logits: jax.Array, labels: Any) -> jax.Array:
        targets = checks.check_labels(labels, logits, 1)
        if self._vocabulary is not None:
            targets = self._vocabulary.find(targets)
        words = None if self._vocabulary is None else self._vocabulary.words
        check_no_texts(targets)
        if not jnp.issubdtype(targets.dtype, jnp.integer):
            raise ValueError(f"Labels dtype should be integer. Instead got {targets.dtype}.")
        return checks.check_range(targets, self._count, words=words)

    def _losses(self, labels: jax.Array, logits: jax.Array) -> jax.Array:
        return nn.sparse_softmax_cross_entropy_with_logits(labels=labels[..., 0], logits=logits)[
            ..., None
        ]

    def _streaming_metrics(self) -> Metrics:
        return {"accuracy": of_pair(metrics.accuracy, "accuracy")}

    def _update(self, found: Metrics, labels: jax.Array, logits: jax.Array, weights: Any) -> None:
        ids = self.predictions(logits, ["class_ids"])["class_ids"]
        found[self._key("accuracy")].update_state(labels, ids, weights)
