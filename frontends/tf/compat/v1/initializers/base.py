"""What initializers share: a dtype to fall back on, and random numbers from seeds."""

import abc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike
from frontends.tf.dtypes import as_dtype, jax_dtype
from frontends.tf.ops.seeds import op_entropy
from frontends.tf.tensor_shape import TensorShape


class Initializer(abc.ABC):
    """Computes the first value of a variable.

    Attributes:
        dtype: of the value, where the call names none.

    Source: `tf.compat.v1.initializers`.
    """

    def __init__(self, dtype: DTypeLike = jnp.float32) -> None:
        """Takes the dtype."""
        self.dtype = as_dtype(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike = None, partition_info: object = None
    ) -> jax.Array:
        """Computes the value.

        Args:
            shape: of the value; all sizes are known.
            dtype: of the value; None takes the initializer's.

        Raises:
            ValueError: a size is not known, or the initializer is not for this shape.
        """
        asked = TensorShape(shape).as_list()
        sizes = tuple(size for size in asked if size is not None)
        if len(sizes) < len(asked):
            raise ValueError(
                f"{type(self).__name__}: the shape of a first value must be known, got {tuple(asked)}. Give every size."
            )
        target = jax_dtype(self.dtype if dtype is None else dtype)
        # A value and not a trace: a variable outlives the program that makes it.
        with jax.ensure_compile_time_eval():
            return jnp.asarray(self._value(sizes, np.dtype(target)), target)

    @abc.abstractmethod
    def _value(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        """Computes the value on the host."""


class RandomInitializer(Initializer):
    """An initializer that draws.

    Attributes:
        seed: makes the numbers the same at each call; None takes others, from the global seed if there is one.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = jnp.float32) -> None:
        """Takes the seed and the dtype."""
        super().__init__(dtype)
        self.seed = seed

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(op_entropy(self.seed, "initializer")))


class FloatInitializer(RandomInitializer):
    """An initializer that draws floating-point numbers only."""

    def __init__(self, seed: int | None = None, dtype: DTypeLike = jnp.float32) -> None:
        """Takes the seed and the dtype.

        Raises:
            ValueError: the dtype is not a floating-point one.
        """
        super().__init__(seed, dtype)
        if not jnp.issubdtype(jax_dtype(self.dtype), jnp.floating):
            raise ValueError(
                f"{type(self).__name__}: Expected floating point type, got {self.dtype.name}. Leave dtype= out, or give "
                "tf.float32."
            )


def truncated_normal(
    generator: np.random.Generator, shape: tuple[int, ...], mean: float, stddev: float
) -> np.ndarray:
    """Draws from a normal distribution; what lies further than two deviations from the mean is drawn again."""
    drawn = generator.standard_normal(shape, np.float32)
    while (outside := np.abs(drawn) > 2).any():
        drawn[outside] = generator.standard_normal(int(outside.sum()), np.float32)
    return drawn * np.float32(stddev) + np.float32(mean)
