"""Initializers that draw from one distribution, whatever the shape."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike
from frontends.tf.compat.v1.initializers.base import (
    FloatInitializer,
    RandomInitializer,
    truncated_normal,
)


class RandomUniform(RandomInitializer):
    """Uniform numbers from `minval` up to `maxval`; whole ones where the dtype is.

    Source: `tf.compat.v1.random_uniform_initializer`. Its default is the interval [0, 1), other than
    `tf.random_uniform_initializer`'s of TensorFlow 2.
    """

    def __init__(
        self,
        minval: float = 0.0,
        maxval: float | None = None,
        seed: int | None = None,
        dtype: DTypeLike = jnp.float32,
    ) -> None:
        """Takes the bounds; the upper one, which is not drawn, is 1 by default."""
        super().__init__(seed, dtype)
        self.minval, self.maxval = minval, maxval

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        if jnp.issubdtype(dtype, jnp.integer):
            if self.maxval is None:
                raise ValueError(
                    f"Must specify maxval for integer dtype {dtype.name}: tf.random_uniform_initializer(0, 10)."
                )
            return self._generator().integers(int(self.minval), int(self.maxval), shape)
        high = 1.0 if self.maxval is None else self.maxval
        drawn = self._generator().random(shape, np.float32)
        return drawn * np.float32(high - self.minval) + np.float32(self.minval)


class RandomNormal(FloatInitializer):
    """Normal numbers.

    Source: `tf.compat.v1.random_normal_initializer`. Its deviation is 1 by default, 0.05 in TensorFlow 2.
    """

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = jnp.float32,
    ) -> None:
        """Takes mean and deviation."""
        super().__init__(seed, dtype)
        self.mean, self.stddev = mean, stddev

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        drawn = self._generator().standard_normal(shape, np.float32)
        return drawn * np.float32(self.stddev) + np.float32(self.mean)


class TruncatedNormal(RandomNormal):
    """Normal numbers within two deviations of the mean.

    Source: `tf.compat.v1.truncated_normal_initializer`.
    """

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return truncated_normal(self._generator(), shape, self.mean, self.stddev)


class UniformUnitScaling(FloatInitializer):
    """Uniform numbers that keep the scale of what is multiplied by them, times a factor.

    Source: `tf.compat.v1.uniform_unit_scaling_initializer`.
    """

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = jnp.float32
    ) -> None:
        """Takes the factor."""
        super().__init__(seed, dtype)
        self.factor = factor

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        limit = math.sqrt(3 / max(1.0, math.prod(shape[:-1]))) * self.factor
        return self._generator().uniform(-limit, limit, shape)
