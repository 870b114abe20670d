"""Nadam of Keras 2, which warms momentum up more slowly than Keras 3's.

Internals of Keras that this touches: `Optimizer._backend_update_step` and `._get_variable_index`, `Nadam._u_product`, `._momentums` and
`._velocities`; tests/frontends/tf/keras/test_nadam.py runs it on every supported version.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import keras

from frontends.tf._typing import TensorLike, VariableLike

_BASE: Any = keras.optimizers.Nadam


class Nadam(_BASE):
    """Nadam with the schedule of Keras 2: momentum is `beta_1 * (1 - 0.5 * 0.96 ** (schedule_decay * step))`.

    Keras 3's has the schedule with `schedule_decay=1`.

    Source: `tf.keras.optimizers.legacy.Nadam`.
    """

    def __init__(
        self,
        *args: Any,
        decay: float = 0.0,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        """Makes the optimizer; the arguments are Keras's.

        Args:
            *args: as of Keras 3's Nadam.
            decay: ignored, as in Keras 2: the learning rate of Nadam does not decay.
            schedule_decay: how fast momentum rises from the half of `beta_1`.
            **kwargs: as of Keras 3's Nadam.
        """
        super().__init__(*args, **kwargs)
        self.schedule_decay = schedule_decay

    def _backend_update_step(
        self,
        grads: Sequence[TensorLike],
        trainable_variables: Sequence[VariableLike],
        learning_rate: TensorLike,
    ) -> None:
        self.begin_step()
        for gradient, variable in zip(grads, trainable_variables, strict=True):
            self.update_step(gradient, variable, learning_rate)

    def begin_step(self) -> None:
        """Multiplies what all variables share by the momentum of the step."""
        self._u_product.assign(self._u_product.value * self._momentum_of(0))

    def _momentum_of(self, ahead: int) -> Any:
        step = jnp.asarray(self.iterations, self._u_product.dtype) + 1 + ahead
        return self.beta_1 * (1 - 0.5 * 0.96 ** (self.schedule_decay * step))

    def update_step(
        self, gradient: TensorLike, variable: VariableLike, learning_rate: TensorLike
    ) -> None:
        """Updates one variable, after `begin_step`."""
        product: Any = self._u_product
        step = jnp.asarray(self.iterations, product.dtype) + 1
        momentum, next_momentum = self._momentum_of(0), self._momentum_of(1)
        rest, next_rest = 1 - product.value, 1 - product.value * next_momentum
        index, dtype = self._get_variable_index(variable), variable.dtype
        gradient = jnp.asarray(gradient, dtype)
        mean, square = self._momentums[index], self._velocities[index]
        mean.assign(self.beta_1 * mean.value + (1 - self.beta_1) * gradient)
        square.assign(self.beta_2 * square.value + (1 - self.beta_2) * jnp.square(gradient))
        ahead = (1 - momentum) * gradient / rest + next_momentum * mean.value / next_rest
        scale = jnp.sqrt(square.value / (1 - self.beta_2**step)) + self.epsilon
        variable.assign_sub(jnp.asarray(learning_rate * ahead / scale, dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the options."""
        return {**super().get_config(), "schedule_decay": self.schedule_decay}
