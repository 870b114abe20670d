"""Optimizers that shrink variables besides, as `tf.contrib.opt` has them: the decay is no part of the gradient."""

import contextlib
import dataclasses
from collections.abc import Generator, Iterable, Sequence
from typing import Any, ClassVar

import jax

from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.train.formulas import Formula, Updated
from frontends.tf.compat.v1.train.optimizer import Optimizer
from frontends.tf.compat.v1.train.optimizers import AdamOptimizer, MomentumOptimizer
from frontends.tf.distribute.variable_parts import holder_of


@dataclasses.dataclass(frozen=True)
class _Decayed:
    """A formula that shrinks the value first; the first scalar says by which part.

    Attributes:
        formula: what comes then.
        decays: whether this variable shrinks.
    """

    updates_all_rows: ClassVar[bool] = False
    formula: Formula
    decays: bool

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return self.formula.initial()

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return not self.decays and self.formula.is_by_row()

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        decay: jax.Array,
        *scalars: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        shrunk = value - decay * value if self.decays else value
        return self.formula.update(shrunk, slots, gradient, *scalars)


@dataclasses.dataclass(frozen=True)
class _DecayedInAllRows(_Decayed):
    """The same for a formula that updates all rows."""

    updates_all_rows: ClassVar[bool] = True


class DecoupledWeightDecayExtension(Optimizer):
    """First base of an optimizer that shrinks variables before it updates them, by a part of their values.

    What differs here: with Adam, a gradient of some rows shrinks the whole table.

    Examples:
        >>> from frontends import tf
        >>> class SGDW(
        ...     tf.contrib.opt.DecoupledWeightDecayExtension, tf.train.GradientDescentOptimizer
        ... ):
        ...     pass
        >>> x = tf.Variable(2.0)
        >>> SGDW(weight_decay=0.5, learning_rate=0.1).minimize(lambda: x * 3)
        >>> round(float(x), 6)
        0.7

    Source: `tf.contrib.opt.DecoupledWeightDecayExtension`.
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        """Makes the optimizer.

        Args:
            weight_decay: the part; a number, a tensor, or a function that returns one. The learning rate does not multiply it.
            **kwargs: of the other base.
        """
        self._weight_decay = weight_decay
        self._decayed: list[VariableLike] | None = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: VariableLike | None = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Iterable[VariableLike] | None = None,
    ) -> Any:
        """Computes gradients of a loss, shrinks variables, and applies the gradients.

        Args:
            loss: see `tf.train.Optimizer.minimize`.
            global_step: likewise.
            var_list: likewise.
            gate_gradients: likewise.
            name: likewise.
            grad_loss: likewise.
            decay_var_list: variables that shrink; None means all that are trained.

        Source: `tf.contrib.opt.DecoupledWeightDecayExtension.minimize`.
        """
        with self._decaying(decay_var_list):
            return super().minimize(
                loss,
                global_step,
                var_list,
                gate_gradients,
                aggregation_method,
                colocate_gradients_with_ops,
                name,
                grad_loss,
            )

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, VariableLike]],
        global_step: VariableLike | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
        decay_var_list: Iterable[VariableLike] | None = None,
    ) -> Any:
        """Shrinks variables, and applies gradients.

        Args:
            grads_and_vars: see `tf.train.Optimizer.apply_gradients`.
            global_step: likewise.
            name: likewise.
            skip_gradients_aggregation: likewise.
            decay_var_list: variables that shrink; None means all of them.

        Source: `tf.contrib.opt.DecoupledWeightDecayExtension.apply_gradients`.
        """
        with self._decaying(decay_var_list):
            return super().apply_gradients(
                grads_and_vars, global_step, name, skip_gradients_aggregation
            )

    @contextlib.contextmanager
    def _decaying(self, variables: Iterable[VariableLike] | None) -> Generator[None]:
        outer = self._decayed
        if variables is not None:
            self._decayed = [holder_of(one) for one in variables]
        try:
            yield
        finally:
            self._decayed = outer

    def _formula_for(self, variable: VariableLike) -> Formula:
        formula = super()._formula_for(variable)
        decays = self._decayed is None or any(one is variable for one in self._decayed)
        wrapper = _DecayedInAllRows if formula.updates_all_rows else _Decayed
        return wrapper(formula, decays)

    def _scalars(self) -> Sequence[Any]:
        return self._weight_decay, *super()._scalars()


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam, which shrinks variables besides; see `DecoupledWeightDecayExtension`.

    Source: `tf.contrib.opt.AdamWOptimizer`.
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        """Makes the optimizer.

        Args:
            weight_decay: by which part variables shrink in each step.
            learning_rate: see `tf.train.AdamOptimizer`.
            beta1: likewise.
            beta2: likewise.
            epsilon: likewise.
            use_locking: without effect.
            name: of the slots, `m` and `v`.
        """
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            name=name,
        )


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum, which shrinks variables besides; see `DecoupledWeightDecayExtension`.

    Source: `tf.contrib.opt.MomentumWOptimizer`.
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        """Makes the optimizer.

        Args:
            weight_decay: by which part variables shrink in each step.
            learning_rate: see `tf.train.MomentumOptimizer`.
            momentum: likewise.
            use_locking: without effect.
            name: of the slots, `momentum`.
            use_nesterov: whether to look a step ahead.
        """
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            name=name,
            use_nesterov=use_nesterov,
        )


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Optimizer]:
    """Makes a class of optimizers that shrink variables besides; see `DecoupledWeightDecayExtension`.

    Args:
        base_optimizer: a class of `tf.train`.

    Returns:
        The class, whose first parameter is `weight_decay`; others are given by name.

    Source: `tf.contrib.opt.extend_with_decoupled_weight_decay`.
    """
    bases = DecoupledWeightDecayExtension, base_optimizer
    return type("OptimizerWithDecoupledWeightDecay", bases, {})
