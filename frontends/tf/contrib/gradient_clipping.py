"""`tf.contrib.estimator.clip_gradients_by_norm`: an optimizer, before which gradients are cut down."""

from collections.abc import Iterable
from typing import Any

from frontends.tf import clip_by_global_norm
from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.train.optimizer import Optimizer
from frontends.tf.variable import Variable


class _Clipping(Optimizer):
    def __init__(self, optimizer: Optimizer, clip_norm: float) -> None:
        super().__init__(False, f"ClipByNorm{optimizer.get_name()}")
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, VariableLike]],
        global_step: VariableLike | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Any:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = clip_by_global_norm(list(gradients), self._clip_norm)
        return self._optimizer.apply_gradients(
            zip(clipped, variables, strict=True),
            global_step,
            name,
            skip_gradients_aggregation=skip_gradients_aggregation,
        )

    def get_slot(self, var: VariableLike, name: str) -> Variable | None:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Variable]:
        return self._optimizer.variables()


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: float) -> Optimizer:
    """Makes an optimizer that scales gradients down, all alike, before another one applies them.

    In a replica these are its own gradients, before they are added up.

    Args:
        optimizer: one of `tf.train`.
        clip_norm: the largest norm of all gradients together.

    Source: `tf.contrib.estimator.clip_gradients_by_norm`.
    """
    return _Clipping(optimizer, clip_norm)
