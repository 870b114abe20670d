"""Several tasks for one model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax

from frontends.tf.estimator.canned.heads.head import Head, Metrics
from frontends.tf.estimator.canned.heads.metrics import mean, total
from frontends.tf.estimator.canned.heads.serving import PREDICT
from frontends.tf.estimator.export.outputs import ExportOutput, PredictOutput
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.math import add_n
from frontends.tf.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class MultiHead(Head):
    """Adds up the losses of heads; labels, predictions and logits are by the names of the heads.

    Source: `tf.estimator.MultiHead`.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> None:
        """Puts heads together.

        Args:
            heads: each has a name.
            head_weights: what the loss of each is multiplied by; None for 1.

        Raises:
            ValueError: there are none, one has no name, or there is another number of weights.
        """
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. "
                f"Given len(heads): {len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if head.name is None:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads = tuple(heads)
        self._weights = tuple(head_weights or [1.0] * len(heads))

    @property
    def name(self) -> str:
        """Those of the heads, joined."""
        return "_".join(str(head.name) for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The sum of those of the heads."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """That of the heads.

        Raises:
            ValueError: they differ.
        """
        found = [head.loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(
                f"The loss_reduction must be the same for different heads. Given: {found}"
            )
        return found[0]

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> jax.Array:
        """Adds up the losses of the heads.

        Args:
            labels: by the names of the heads.
            logits: likewise; or an array that has those of all heads along its last axis.
            features: of the batch.
            mode: see `Head`.
            regularization_losses: what is added.

        Raises:
            ValueError: a head has no labels or logits, or they do not fit.
        """
        penalty = total(regularization_losses)
        parts = [
            weight * head.loss(targets, scores, features, mode)
            for weight, (head, scores, targets) in zip(
                self._weights, self._each(logits, labels), strict=True
            )
        ]
        loss = add_n(parts)
        return loss if penalty is None else loss + penalty

    def predictions(
        self, logits: Any, keys: Sequence[str] | None = None
    ) -> dict[tuple[str, str], Any]:
        """Computes the predictions of each head, by pairs of its name and that of the prediction.

        Args:
            logits: see `loss`.
            keys: without effect.
        """
        return {
            (str(head.name), key): one
            for head, scores, _ in self._each(logits)
            for key, one in head.predictions(scores).items()
        }

    def metrics(self, regularization_losses: Iterable[Any] | None = None) -> Metrics:
        """Makes metrics: those of each head, and its loss.

        Args:
            regularization_losses: None if there are none.
        """
        found: Metrics = {}
        if regularization_losses is not None:
            found[self._penalty_key] = mean("regularization_loss")
        for head in self._heads:
            found[f"loss/{head.name}"] = mean(f"loss/{head.name}")
            found |= head.metrics()
        return found

    def update_metrics(
        self,
        eval_metrics: Metrics,
        features: Any,
        logits: Any,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> Metrics:
        """Gives metrics a batch; see `loss` for the arguments."""
        penalty = total(regularization_losses)
        if penalty is not None:
            eval_metrics[self._penalty_key].update_state(penalty)
        for head, scores, targets in self._each(logits, labels):
            loss = head.loss(targets, scores, features, mode)
            eval_metrics[f"loss/{head.name}"].update_state(loss)
            head.update_metrics(eval_metrics, features, scores, targets, mode)
        return eval_metrics

    def _export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        found: dict[str, ExportOutput] = {}
        merged: dict[str, Any] = {}
        for head in self._heads:
            own = {key: one for (of, key), one in predictions.items() if of == head.name}
            for key, output in head._export_outputs(own).items():
                if key == DEFAULT_SERVING_SIGNATURE_DEF_KEY:
                    found.setdefault(key, output)
                    found[str(head.name)] = output
                else:
                    found[f"{head.name}/{key}"] = output
            merged |= {f"{head.name}/{key}": one for key, one in own.items()}
        return found | {PREDICT: PredictOutput(merged)}

    def _key(self, key: str) -> str:
        return key

    @property
    def _penalty_key(self) -> str:
        return f"regularization_loss/{self.name}"

    def _each(self, logits: Any, labels: Any = None) -> list[tuple[Head, Any, Any]]:
        """Lists the heads with their logits and labels."""
        names = [str(head.name) for head in self._heads]
        by_name = logits if isinstance(logits, Mapping) else self._split(logits)
        missing = [name for name in names if name not in by_name]
        if missing:
            raise ValueError(f"logits has missing values for head(s): {missing}")
        if labels is None:
            return [(head, by_name[str(head.name)], None) for head in self._heads]
        if not isinstance(labels, Mapping):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        missing = [name for name in names if name not in labels]
        if missing:
            raise ValueError(f"labels has missing values for head(s): {missing}")
        return [(head, by_name[str(head.name)], labels[head.name]) for head in self._heads]

    def _split(self, logits: Any) -> dict[str, jax.Array]:
        scores, sizes = (
            convert_to_tensor(logits),
            [head.logits_dimension for head in self._heads],
        )
        if scores.shape[-1] != sum(sizes):
            raise ValueError(
                f"Could not split logits of shape {list(scores.shape)} among the heads with individual logits dimensions: "
                f"{sizes}. The last dimension of the logits tensor should equal {sum(sizes)} but is {scores.shape[-1]}."
            )
        found, start = {}, 0
        for head, size in zip(self._heads, sizes, strict=True):
            found[str(head.name)] = scores[..., start : start + size]
            start += size
        return found
