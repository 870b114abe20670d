"""Initializers that make matrices: orthogonal ones, and the identity."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike
from frontends.tf.compat.v1.initializers.base import FloatInitializer, Initializer


class Orthogonal(FloatInitializer):
    """A matrix with orthogonal columns, or rows where it has fewer of these; axes before the last are one.

    Source: `tf.compat.v1.orthogonal_initializer`.
    """

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = jnp.float32
    ) -> None:
        """Takes a factor, the seed and the dtype."""
        super().__init__(seed, dtype)
        self.gain = gain

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        if len(shape) < 2:
            raise ValueError(
                "orthogonal_initializer: the tensor to initialize must be at least two-dimensional. Received "
                f"shape={shape}. Use tf.zeros_initializer for a bias."
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        drawn = self._generator().standard_normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(drawn)
        q = q * np.sign(np.diag(r))  # without that, it would not be uniform
        return (self.gain * (q.T if rows < columns else q)).reshape(shape)


class Identity(Initializer):
    """An identity matrix, times a factor.

    Source: `tf.compat.v1.initializers.identity`.
    """

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = jnp.float32) -> None:
        """Takes the factor and the dtype."""
        super().__init__(dtype)
        self.gain = gain

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        if len(shape) != 2:
            raise ValueError(
                f"initializers.identity: the tensor to initialize must be two-dimensional. Received shape={shape}. Use "
                "tf.orthogonal_initializer for more dimensions."
            )
        return self.gain * np.eye(*shape, dtype=np.float32)
