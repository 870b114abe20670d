"""What the random numbers of a map function depend on: the place of a draw in the function, and the number of the element.

A function that is compiled takes a key for each draw as an argument, so that each element draws numbers of its own,
whether it is alone or one row of a batch.
"""

from collections.abc import Hashable, Sequence
from typing import Protocol, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

# Of elements; equal ones draw equal numbers.
Numbers: TypeAlias = NDArray[np.int64]
# What the keys of a draw depend on besides its place, such as a seed of its own.
Seed: TypeAlias = Hashable

# Draws of a function; later ones have no key of their own.
_MOST = 256


class Draws(Protocol):
    """What one function draws from. May be used from several threads."""

    def reserve(self, count: int) -> int:
        """Returns the first of so many numbers, which nobody else gets."""
        ...

    def keys(self, numbers: Numbers, seeds: Sequence[Seed]) -> NDArray[np.uint32]:
        """Returns keys, shape ``[len(numbers), len(seeds), 2]``, of each draw of each element.

        Args:
            numbers: Of the elements.
            seeds: Of the draws, in their order.
        """
        ...


class TracedDraws:
    """What a function draws from while it is traced.

    Args:
        keys: Of each draw, shape ``[draws, 2]``; None if the function must not draw.

    Attributes:
        seeds: Of the draws up to now.
    """

    def __init__(self, keys: jax.Array | None) -> None:
        self._keys = keys
        self.seeds: list[Seed] = []

    def take(self, seed: Seed) -> jax.Array:
        """Returns the two words of the next draw's key.

        Args:
            seed: What the keys of this draw depend on.

        Raises:
            RuntimeError: the function must not draw.
        """
        if self._keys is None:
            raise RuntimeError("A map function that is compiled cannot draw from a stream here.")
        place, known = len(self.seeds), self._keys.shape[0]
        self.seeds.append(seed)
        if place < known:
            return self._keys[place]
        last = jax.random.wrap_key_data(self._keys[known - 1], impl="threefry2x32")
        return jax.random.key_data(jax.random.fold_in(last, place))


def abstract_keys() -> NDArray[np.uint32]:
    """Returns as many keys as a function may have, to find out how many it takes."""
    return np.zeros((_MOST, 2), np.uint32)


def needed(seeds: Sequence[Seed]) -> Sequence[Seed]:
    """Returns the seeds of those draws that have keys of their own."""
    return tuple(seeds[:_MOST])
