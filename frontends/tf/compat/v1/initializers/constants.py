"""Initializers without chance."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.compat.v1.initializers.base import Initializer


class Zeros(Initializer):
    """Zeros.

    Source: `tf.compat.v1.zeros_initializer`.
    """

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return np.zeros(shape, dtype)


class Ones(Initializer):
    """Ones.

    Source: `tf.compat.v1.ones_initializer`.
    """

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return np.ones(shape, dtype)


class Constant(Initializer):
    """A given value.

    Source: `tf.compat.v1.constant_initializer`.
    """

    def __init__(
        self, value: TensorLike = 0, dtype: DTypeLike = jnp.float32, verify_shape: bool = False
    ) -> None:
        """Takes the value.

        Args:
            value: a number, or numbers; if they are fewer than the variable has, the last one is repeated.
            dtype: see `Initializer`.
            verify_shape: whether the value must have the variable's shape.
        """
        super().__init__(dtype)
        self.value, self._verify = np.asarray(value), verify_shape

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        value, size = self.value, int(np.prod(shape))
        if self._verify and value.shape != shape:
            raise TypeError(
                f"constant_initializer: Expected a value of shape {shape}, got one of shape {value.shape}. Leave out "
                "verify_shape=True to have it repeated."
            )
        if value.size > size or not value.size:
            raise ValueError(
                f"constant_initializer: a variable of shape {shape} has {size} elements, and the value {value.size}. Give "
                "as many, or one number."
            )
        flat = value.reshape(-1)
        return np.concatenate([flat, np.repeat(flat[-1:], size - flat.size)]).reshape(shape)
