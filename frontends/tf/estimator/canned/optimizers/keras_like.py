"""An optimizer of Keras in a model function: its settings and slots are variables of the model, as in TensorFlow 2."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.slots import make_unseen, name_of
from frontends.tf.compat.v1.train.formulas import Formula
from frontends.tf.compat.v1.train.optimizer import Optimizer, Slots
from frontends.tf.dtypes import jax_dtype
from frontends.tf.estimator.canned.optimizers.rules import Rule
from frontends.tf.graph import Operation
from frontends.tf.indexed_slices import summed
from frontends.tf.ops.clip import clip_by_global_norm, clip_by_norm, clip_by_value
from frontends.tf.variable import Variable
from spmd.replica import in_replica


class KerasLikeOptimizer(Optimizer):
    """Trains as an optimizer of Keras 2 does, with variables of its names: `training/Adam/beta_1`.

    Attributes:
        iterations: counts the updates; None makes a variable for that.
    """

    def __init__(
        self,
        rule: Rule,
        learning_rate: Any,
        decay: float = 0.0,
        clips: Mapping[str, float] | None = None,
    ) -> None:
        """Makes the optimizer.

        Args:
            rule: how it updates variables.
            learning_rate: a number, or a schedule: a function of the number of updates before.
            decay: by how much of itself the divisor of the learning rate grows with each update.
            clips: bounds of gradients: `clipnorm`, `clipvalue` or `global_clipnorm`.
        """
        super().__init__(False, f"training/{rule.name}")
        self.iterations: VariableLike | None = None
        self._rule, self._given_rate = rule, learning_rate
        self._decay, self._clips = decay, dict(clips or {})

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, VariableLike]],
        global_step: VariableLike | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Operation | None:
        """Applies gradients, and counts the update in `iterations`.

        Args:
            grads_and_vars: see `Optimizer.apply_gradients`.
            global_step: instead of `iterations`.
            name: of the operation.
            skip_gradients_aggregation: see `Optimizer.apply_gradients`.
        """
        pairs = list(grads_and_vars)
        if self._clips and any(gradient is not None for gradient, _ in pairs):
            pairs = [pair for pair in pairs if pair[0] is not None]
            gradients = [gradient for gradient, _ in pairs]
            if in_replica() and not skip_gradients_aggregation:
                gradients, skip_gradients_aggregation = summed(gradients), True
            clipped = self._clipped(gradients)
            pairs = list(zip(clipped, (variable for _, variable in pairs), strict=True))
        step = self._count() if global_step is None else global_step
        # Another name than that of the settings, which a second optimizer would be numbered after.
        name = name or f"{self._kept().key}/update"
        return super().apply_gradients(pairs, step, name, skip_gradients_aggregation)

    def _clipped(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Bounds gradients; of rows, what was looked up, as often as it was."""
        norm, value, of_all = (
            self._clips.get(key) for key in ("clipnorm", "clipvalue", "global_clipnorm")
        )
        if norm is not None:
            gradients = [clip_by_norm(one, norm) for one in gradients]
        if of_all is not None:
            gradients, _ = clip_by_global_norm(gradients, of_all)
        if value is not None:
            gradients = [clip_by_value(one, -value, value) for one in gradients]
        return gradients

    def _count(self) -> Any:
        """Returns the variable that counts updates."""
        if self.iterations is not None:
            return self.iterations
        return self._setting("iter", 0, jax_dtype("int64"))

    def _setting(self, name: str, value: Any, dtype: Any = jnp.float32) -> Variable:
        kept = self._kept()
        if name not in kept.shared:
            initial = functools.partial(jnp.asarray, value, dtype)
            kept.shared[name] = make_unseen(kept.graph, f"{kept.key}/{name}", initial)
        return kept.shared[name]

    def _formula(self) -> Formula:
        return self._rule.formula

    def _scalars(self) -> Sequence[Any]:
        settings = {**self._rule.settings, "decay": self._decay}
        if not callable(self._given_rate):
            settings["learning_rate"] = self._given_rate
        read = {name: self._setting(name, one).value() for name, one in settings.items()}
        count = jnp.asarray(self._count().value())
        rate = self._given_rate(count) if callable(self._given_rate) else None
        rate = read["learning_rate"] if rate is None else jnp.asarray(rate, jnp.float32)
        steps = count.astype(jnp.float32)
        if self._decay:
            rate = rate / (1 + read["decay"] * steps)
        return rate, *self._rule.scalars(read.__getitem__, steps + 1)

    def _slot_names(self) -> Sequence[str]:
        return self._rule.slots

    def _op_names(self) -> Sequence[str]:
        return self._rule.slots

    def _make_slot(
        self,
        kept: Slots,
        holder: VariableLike,
        op_name: str,
        initial: Callable[[], jax.Array],
        bind: Callable[[Variable], None],
    ) -> Variable:
        return make_unseen(kept.graph, f"{kept.key}/{name_of(holder)}/{op_name}", initial, bind)
