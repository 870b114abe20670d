"""`compiled_loss` and `compiled_metrics`, which train steps of Keras 2 call; Keras 3 has them on TensorFlow only.

Internals of Keras that this touches: a model's `_loss_tracker` and `_compile_metrics`.
"""

import dataclasses
from typing import Any

from spmd.integrations.keras import KerasObject


def compiled_loss(
    self: KerasObject,
    y: Any,
    y_pred: Any,
    sample_weight: Any = None,
    regularization_losses: object = None,
) -> Any:
    """Returns what `compile` asks to minimize, and notes it for the metric `loss`.

    As in Keras 3, penalties of layers are part of it, whether they are given or not.
    """
    loss = self.compute_loss(x=None, y=y, y_pred=y_pred, sample_weight=sample_weight)
    if self._loss_tracker is not None:
        self._loss_tracker.update_state(loss)
    return loss


@dataclasses.dataclass(frozen=True)
class CompiledMetrics:
    """The metrics that `compile` was given.

    Unlike in Keras 3 on TensorFlow, updating them leaves other metrics of the model, such as `loss`, as they are.
    """

    model: KerasObject

    def update_state(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Updates them with a batch."""
        for metric in self._of_compile():
            metric.update_state(y, y_pred, sample_weight=sample_weight)

    @property
    def metrics(self) -> list[KerasObject]:
        """The metrics, once they have seen a batch."""
        return [metric for compiled in self._of_compile() for metric in compiled.metrics]

    def _of_compile(self) -> list[KerasObject]:
        return [] if self.model._compile_metrics is None else [self.model._compile_metrics]
