"""Initializers whose variance depends on how many inputs and outputs a weight has."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike
from frontends.tf.compat.v1.initializers.base import FloatInitializer, truncated_normal

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")
# The deviation of a normal distribution that is cut at two deviations.
_CUT = 0.87962566103423978


class VarianceScaling(FloatInitializer):
    """Numbers of variance `scale / n`, where `n` counts inputs, outputs, or the mean of the two.

    Source: `tf.compat.v1.variance_scaling_initializer`.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = jnp.float32,
    ) -> None:
        """Takes what to draw.

        Args:
            scale: above 0.
            mode: `"fan_in"`, `"fan_out"` or `"fan_avg"`.
            distribution: `"truncated_normal"`, which `"normal"` means too, `"untruncated_normal"` or `"uniform"`.
            seed: see `RandomInitializer`.
            dtype: see `Initializer`.

        Raises:
            ValueError: one of these is something else.
        """
        super().__init__(seed, dtype)
        if scale <= 0:
            raise ValueError(
                f"Argument `scale` must be a positive float. Received: {scale}. Write scale=1.0."
            )
        if mode not in _MODES:
            raise ValueError(
                f"Argument `mode` should be one of {_MODES}. Received: {mode}. Write mode='fan_in'."
            )
        if distribution.lower() not in _DISTRIBUTIONS:
            raise ValueError(
                f"Argument `distribution` should be one of {_DISTRIBUTIONS}. Received: {distribution}. Write "
                "distribution='uniform'."
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution.lower()

    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        inputs, outputs = fans(shape)
        counts = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
        variance = self.scale / max(1.0, counts[self.mode])
        generator = self._generator()
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return generator.uniform(-limit, limit, shape)
        if self.distribution == "untruncated_normal":
            return generator.standard_normal(shape, np.float32) * np.float32(math.sqrt(variance))
        return truncated_normal(generator, shape, 0.0, math.sqrt(variance) / _CUT)


def fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """Counts the inputs and the outputs of a weight: its last two axes, times the window of a convolution.

    Examples:
        >>> fans((3, 3, 8, 16))
        (72.0, 144.0)
        >>> fans((5,))
        (5.0, 5.0)
    """
    if len(shape) < 2:
        size = float(math.prod(shape))
        return size, size
    window = math.prod(shape[:-2])
    return float(window * shape[-2]), float(window * shape[-1])


class GlorotUniform(VarianceScaling):
    """Uniform numbers of variance `2 / (inputs + outputs)`: what variables have that name no initializer.

    Source: `tf.compat.v1.glorot_uniform_initializer`.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = jnp.float32) -> None:
        """Takes the seed and the dtype."""
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(VarianceScaling):
    """Normal numbers, truncated, of variance `2 / (inputs + outputs)`.

    Source: `tf.compat.v1.glorot_normal_initializer`.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = jnp.float32) -> None:
        """Takes the seed and the dtype."""
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class HeNormal(VarianceScaling):
    """Normal numbers, truncated, of variance `2 / inputs`.

    Source: `tf.compat.v1.initializers.he_normal`.
    """

    def __init__(self, seed: int | None = None) -> None:
        """Takes the seed."""
        super().__init__(2.0, "fan_in", "truncated_normal", seed)


class HeUniform(VarianceScaling):
    """Uniform numbers of variance `2 / inputs`.

    Source: `tf.compat.v1.initializers.he_uniform`.
    """

    def __init__(self, seed: int | None = None) -> None:
        """Takes the seed."""
        super().__init__(2.0, "fan_in", "uniform", seed)


class LecunNormal(VarianceScaling):
    """Normal numbers, truncated, of variance `1 / inputs`.

    Source: `tf.compat.v1.initializers.lecun_normal`.
    """

    def __init__(self, seed: int | None = None) -> None:
        """Takes the seed."""
        super().__init__(1.0, "fan_in", "truncated_normal", seed)


class LecunUniform(VarianceScaling):
    """Uniform numbers of variance `1 / inputs`.

    Source: `tf.compat.v1.initializers.lecun_uniform`.
    """

    def __init__(self, seed: int | None = None) -> None:
        """Takes the seed."""
        super().__init__(1.0, "fan_in", "uniform", seed)
