"""How the optimizers of TensorFlow 1 make new values of gradients: pure functions of arrays.

Written as the kernels of TensorFlow's documents say, so that a learning rate that changes acts as it does there.
"""

import dataclasses
from collections.abc import Callable
from typing import ClassVar, Protocol

import jax
import jax.numpy as jnp

# The new value, and the new slots.
Updated = tuple[jax.Array, list[jax.Array]]


class Formula(Protocol):
    """How an optimizer updates one variable.

    Attributes:
        updates_all_rows: whether a gradient of some rows also changes the others.
    """

    updates_all_rows: ClassVar[bool]

    def initial(self) -> tuple[float, ...]:
        """Returns what the elements of each slot are at first."""
        ...

    def is_by_row(self) -> bool:
        """Tells whether rows with a gradient of zero stay as they are, with their slots."""
        ...

    @property
    def update(self) -> Callable[..., Updated]:
        """Applies a gradient.

        It takes the value, a list of the slots, and the gradient, all of one shape; then scalars of their type, the
        learning rate first.
        """
        ...


@dataclasses.dataclass(frozen=True)
class GradientDescent:
    """Subtracts the gradient times the learning rate."""

    updates_all_rows: ClassVar[bool] = False

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return ()

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return True

    def update(
        self, value: jax.Array, slots: list[jax.Array], gradient: jax.Array, rate: jax.Array
    ) -> Updated:
        """See `Formula`."""
        return value - rate * gradient, slots


@dataclasses.dataclass(frozen=True)
class Momentum:
    """Accumulates gradients, which the learning rate of the moment multiplies.

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
        accumulated = slots[0] * momentum + gradient
        direction = gradient + momentum * accumulated if self.nesterov else accumulated
        return value - rate * direction, [accumulated]


@dataclasses.dataclass(frozen=True)
class Adam:
    """Averages gradients and their squares; the last two scalars are powers of the betas."""

    updates_all_rows: ClassVar[bool] = True

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
        # Epsilon beside the root of what is not corrected yet: the "epsilon hat" of the paper.
        corrected = rate * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)
        return value - corrected * m / (jnp.sqrt(v) + epsilon), [m, v]


@dataclasses.dataclass(frozen=True)
class Adagrad:
    """Divides by the root of the sum of squares.

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
        self, value: jax.Array, slots: list[jax.Array], gradient: jax.Array, rate: jax.Array
    ) -> Updated:
        """See `Formula`."""
        total = slots[0] + gradient * gradient
        return value - rate * gradient * jax.lax.rsqrt(total), [total]


@dataclasses.dataclass(frozen=True)
class RMSProp:
    """Divides by the root of the average square, and accumulates that.

    Attributes:
        centered: whether to divide by an estimate of the variance.
    """

    updates_all_rows: ClassVar[bool] = False
    centered: bool

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (1.0, 0.0, 0.0) if self.centered else (1.0, 0.0)

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        decay: jax.Array,
        momentum: jax.Array,
        epsilon: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        square, *means, accumulated = slots
        square = square + (gradient * gradient - square) * (1 - decay)
        means = [mean + (gradient - mean) * (1 - decay) for mean in means]
        variance = square - sum(mean * mean for mean in means)
        accumulated = momentum * accumulated + rate * gradient / jnp.sqrt(variance + epsilon)
        return value - accumulated, [square, *means, accumulated]


@dataclasses.dataclass(frozen=True)
class Adadelta:
    """Multiplies by the root of the average square of former updates, and divides by that of gradients."""

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
        rho: jax.Array,
        epsilon: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        gradients, updates = slots
        gradients = gradients * rho + gradient * gradient * (1 - rho)
        update = jnp.sqrt(updates + epsilon) * jax.lax.rsqrt(gradients + epsilon) * gradient
        updates = updates * rho + update * update * (1 - rho)
        return value - rate * update, [gradients, updates]


@dataclasses.dataclass(frozen=True)
class Ftrl:
    """Follows the regularized leader.

    Attributes:
        start: of the sum of squares.
        shrinks: whether an L2 penalty is added to gradients, too.
    """

    updates_all_rows: ClassVar[bool] = False
    start: float
    shrinks: bool

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (self.start, 0.0)

    def is_by_row(self) -> bool:
        """See `Formula`; of a value that came about by this formula."""
        return not self.shrinks

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        power: jax.Array,
        l1: jax.Array,
        l2: jax.Array,
        beta: jax.Array,
        shrinkage: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        former, linear = slots
        total = former + gradient * gradient
        if self.shrinks:
            gradient = gradient + 2 * shrinkage * value
        root = total**-power
        linear = linear + gradient - (root - former**-power) / rate * value
        adjusted = l2 + beta / (2 * jnp.maximum(rate, 1e-36))
        value = (jnp.clip(linear, -l1, l1) - linear) / (root / rate + 2 * adjusted)
        return value, [total, linear]


@dataclasses.dataclass(frozen=True)
class ProximalGradientDescent:
    """Subtracts the gradient times the learning rate, and shrinks what results."""

    updates_all_rows: ClassVar[bool] = False

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return ()

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        l1: jax.Array,
        l2: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        return _shrunk(value - rate * gradient, rate, l1, l2), slots


@dataclasses.dataclass(frozen=True)
class ProximalAdagrad:
    """Adagrad, which shrinks what results.

    Attributes:
        start: of the sum of squares.
    """

    updates_all_rows: ClassVar[bool] = False
    start: float

    def initial(self) -> tuple[float, ...]:
        """See `Formula`."""
        return (self.start,)

    def is_by_row(self) -> bool:
        """See `Formula`."""
        return False

    def update(
        self,
        value: jax.Array,
        slots: list[jax.Array],
        gradient: jax.Array,
        rate: jax.Array,
        l1: jax.Array,
        l2: jax.Array,
    ) -> Updated:
        """See `Formula`."""
        total = slots[0] + gradient * gradient
        own = rate * jax.lax.rsqrt(total)
        return _shrunk(value - own * gradient, own, l1, l2), [total]


def _shrunk(value: jax.Array, rate: jax.Array, l1: jax.Array, l2: jax.Array) -> jax.Array:
    """Minimizes the penalties beside the distance to a value."""
    return jnp.sign(value) * jnp.maximum(jnp.abs(value) - rate * l1, 0) / (1 + l2 * rate)
