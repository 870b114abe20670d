"""Rows of several arrays, which a `for` loop goes over at once."""

import dataclasses

import jax


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows of several arrays, as `enumerate` and `zip` give them.

    Attributes:
        arrays: with as many rows each.
    """

    arrays: tuple[jax.Array, ...]
