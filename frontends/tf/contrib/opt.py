"""`tf.contrib.opt`: optimizers that TensorFlow 1 kept apart."""

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.slots import name_of
from frontends.tf.compat.v1.train.formulas import Adam, Formula, Momentum, Updated
from frontends.tf.compat.v1.train.optimizer import Optimizer
from frontends.tf.compat.v1.train.optimizers import AdamOptimizer
from frontends.tf.contrib import weight_decay


@dataclasses.dataclass(frozen=True)
class _Nadam(Adam):
    """Adam, whose average looks a step ahead."""

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        beta1: jax.Array,
        beta2: jax.Array,
        epsilon: jax.Array,
        beta1_power: jax.Array,
        beta2_power: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        m, v = slots
        m = m + (gradient - m) * (1 - beta1)
        v = v + (gradient * gradient - v) * (1 - beta2)
        ahead = m * beta1 + gradient * (1 - beta1)
        corrected = rate * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)
        return value - corrected * ahead / (jnp.sqrt(v) + epsilon), [m, v]


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum.

    Source: `tf.contrib.opt.NadamOptimizer`.
    """

    def _formula(self) -> Formula:
        return _Nadam()


@dataclasses.dataclass(frozen=True)
class _AdaMax(Adam):
    """Adam, which divides by the largest gradient there was; its last scalar is the power of beta1."""

    updates_all_rows: ClassVar[bool] = False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        beta1: jax.Array,
        beta2: jax.Array,
        epsilon: jax.Array,
        beta1_power: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        m, largest = slots
        m = m + (gradient - m) * (1 - beta1)
        largest = jnp.maximum(beta2 * largest, jnp.abs(gradient))
        return value - rate / (1 - beta1_power) * m / (largest + epsilon), [m, largest]


class AdaMaxOptimizer(AdamOptimizer):
    """Adam by the infinity norm.

    Source: `tf.contrib.opt.AdaMaxOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            beta1: how much of the average gradient stays.
            beta2: how much of the largest gradient stays.
            epsilon: added to that.
            use_locking: without effect.
            name: of the slots, `m` and `v`.
        """
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _formula(self) -> Formula:
        return _AdaMax()

    def _shared(self) -> Sequence[tuple[str, Any]]:
        return (("beta1_power", self._beta1),)


@dataclasses.dataclass(frozen=True)
class _Lars:
    """Momentum, whose learning rate follows from the norms of the value and the gradient.

    Attributes:
        momentum: the formula.
        scales: whether they count for this variable.
    """

    # The norms are those of all rows.
    updates_all_rows: ClassVar[bool] = True
    momentum: Momentum
    scales: bool

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return self.momentum.initial()

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        momentum: jax.Array,
        decay: jax.Array,
        coefficient: jax.Array,
        epsilon: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        if self.scales:
            size, slope = (jnp.sqrt(jnp.sum(one * one)) for one in (value, gradient))
            divisor = slope + decay * size + epsilon
            ratio = coefficient * size / jnp.where(divisor > 0, divisor, 1)
            rate = rate * jnp.where((size > 0) & (slope > 0), ratio, 1)
        return self.momentum.update(value, slots, gradient, rate, momentum)


class LARSOptimizer(Optimizer):
    """Momentum with a learning rate for each variable, by the norms of its value and its gradient.

    What differs here: a gradient of some rows (`tf.IndexedSlices`) moves all rows, by their momentum.

    Source: `tf.contrib.opt.LARSOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            momentum: multiplies what is accumulated.
            weight_decay: how much the norm of the value counts beside that of the gradient; nothing decays by it.
            eeta: multiplies the quotient of the norms.
            epsilon: added to its divisor.
            name: of the slots, `momentum`.
            skip_list: parts of names of variables that take the learning rate as it is.
            use_nesterov: whether to look a step ahead.

        Raises:
            ValueError: the momentum or the decay is negative.
        """
        for what, number in (("momentum", momentum), ("weight_decay", weight_decay)):
            if not callable(number) and number < 0:
                raise ValueError(f"{what} should be positive: {number}")
        super().__init__(False, name)
        self._rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov
        self._norms, self._skipped = (weight_decay, eeta, epsilon), list(skip_list or ())

    def _formula_for(self, variable: VariableLike) -> Formula:
        name = name_of(variable)
        return _Lars(Momentum(self._use_nesterov), not any(one in name for one in self._skipped))

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._momentum, *self._norms

    def _slot_names(self) -> Sequence[str]:
        return ("momentum",)


__getattr__, __dir__ = attributes(
    "tf.contrib.opt", {**defined_in(__name__), **defined_in(weight_decay.__name__)}
)
