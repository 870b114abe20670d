"""How the optimizers of Keras 2 make new values, where those of `tf.compat.v1.train` do it in another way."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp

from frontends.tf.compat.v1.train.formulas import Updated


@dataclasses.dataclass(frozen=True)
class KerasMomentum:
    """Accumulates updates: the learning rate of the moment multiplies the last gradient only.

    Attributes:
        nesterov: whether to look a step ahead.
    """

    updates_all_rows: ClassVar[bool] = False
    nesterov: bool

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (0.0,)

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
    ) -> Updated:
        """See `Formula`."""
        accumulated = momentum * slots[0] - rate * gradient
        step = momentum * accumulated - rate * gradient if self.nesterov else accumulated
        return value + step, [accumulated]


@dataclasses.dataclass(frozen=True)
class KerasAdagrad:
    """Divides by the root of the sum of squares, and epsilon.

    Attributes:
        start: of the sum.
    """

    updates_all_rows: ClassVar[bool] = False
    start: float

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (self.start,)

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return True

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        epsilon: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        total = slots[0] + gradient * gradient
        return value - rate * gradient / (jnp.sqrt(total) + epsilon), [total]


@dataclasses.dataclass(frozen=True)
class AmsGrad:
    """Adam that divides by the largest average square so far; the scalars are those of `Adam`."""

    updates_all_rows: ClassVar[bool] = True

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (0.0, 0.0, 0.0)

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        beta_1: jax.Array,
        beta_2: jax.Array,
        epsilon: jax.Array,
        beta_1_power: jax.Array,
        beta_2_power: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        m, v, largest = slots
        m = m + (gradient - m) * (1 - beta_1)
        v = v + (gradient * gradient - v) * (1 - beta_2)
        largest = jnp.maximum(largest, v)
        corrected = rate * jnp.sqrt(1 - beta_2_power) / (1 - beta_1_power)
        return value - corrected * m / (jnp.sqrt(largest) + epsilon), [m, v, largest]


@dataclasses.dataclass(frozen=True)
class AdaMax:
    """Divides the average gradient by the largest one, which decays."""

    updates_all_rows: ClassVar[bool] = False

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (0.0, 0.0)

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        beta_1: jax.Array,
        beta_2: jax.Array,
        epsilon: jax.Array,
        beta_1_power: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        m, v = slots
        m = m + (gradient - m) * (1 - beta_1)
        v = jnp.maximum(beta_2 * v, jnp.abs(gradient))
        return value - rate / (1 - beta_1_power) * m / (v + epsilon), [m, v]


@dataclasses.dataclass(frozen=True)
class KerasRMSProp:
    """Divides by the root of the average square, which starts at zero.

    Attributes:
        centered: whether to divide by an estimate of the variance.
    """

    updates_all_rows: ClassVar[bool] = True
    centered: bool

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (0.0, 0.0) if self.centered else (0.0,)

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        rho: jax.Array,
        momentum: jax.Array,
        epsilon: jax.Array,
    ) -> Updated:
        """See `Formula`; there is no momentum."""
        del momentum
        slots, variance = _averaged(slots, gradient, rho)
        return value - rate * gradient / (jnp.sqrt(variance) + epsilon), slots


@dataclasses.dataclass(frozen=True)
class KerasRMSPropMomentum:
    """`KerasRMSProp`, which accumulates updates; its first slot is for that.

    Attributes:
        centered: whether to divide by an estimate of the variance.
    """

    updates_all_rows: ClassVar[bool] = False
    centered: bool

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (0.0, 0.0, 0.0) if self.centered else (0.0, 0.0)

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        rho: jax.Array,
        momentum: jax.Array,
        epsilon: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        averages, variance = _averaged(slots[1:], gradient, rho)
        accumulated = momentum * slots[0] + rate * gradient / jnp.sqrt(variance + epsilon)
        return value - accumulated, [accumulated, *averages]


def _averaged(
    slots: list[jax.Array], gradient: jax.Array, rho: jax.Array
) -> tuple[list[jax.Array], jax.Array]:
    """Adds a gradient to the average square, and to the average if there is one; returns the variance, too."""
    square = rho * slots[0] + (1 - rho) * gradient * gradient
    means = [rho * mean + (1 - rho) * gradient for mean in slots[1:]]
    return [square, *means], square - sum(mean * mean for mean in means)
