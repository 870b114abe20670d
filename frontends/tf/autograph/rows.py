"""Rows of several arrays, which a `for` loop goes over at once."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import jax


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows of several arrays, as `enumerate` and `zip` give them.

    Attributes:
        arrays: nested tuples of arrays with as many rows each.
    """

    arrays: tuple[Any, ...]

    def __len__(self) -> int:
        return len(jax.tree.leaves(self.arrays)[0])

    def __getitem__(self, index: int | slice) -> Any:
        return jax.tree.map(lambda array: array[index], self.arrays)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))
