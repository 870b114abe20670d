"""How a checkpoint describes an array. Random keys are saved as the numbers that they consist of."""

import dataclasses

import jax
import jax.numpy as jnp

from spmd.typing import AnyArray


@dataclasses.dataclass(frozen=True)
class ArrayEntry:
    """One array of a checkpoint.

    Attributes:
        name: its path, such as `model/layers/0/kernel`.
        shape: as saved.
        dtype: name of the dtype, as saved.
        prng: for random keys, the name of their generator.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    prng: str | None = None

    def __str__(self) -> str:
        keys = f", keys of {self.prng}" if self.prng else ""
        return f"{self.dtype}{list(self.shape)}{keys}"


def describe_array(name: str, array: AnyArray) -> ArrayEntry:
    """Describes an array as it is saved."""
    prng = None
    if _is_key(array):
        prng, array = str(jax.random.key_impl(array)), jax.eval_shape(jax.random.key_data, array)
    return ArrayEntry(name, tuple(array.shape), array.dtype.name, prng)


def saved_form(array: AnyArray) -> AnyArray:
    """Returns an array as it is saved: random keys as numbers."""
    return jax.random.key_data(array) if _is_key(array) else array


def _is_key(array: AnyArray) -> bool:
    return jnp.issubdtype(array.dtype, jax.dtypes.prng_key)
