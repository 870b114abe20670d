"""Places in an array, of which some may not exist."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer


def existing(
    positions: Sequence[jax.Array], shape: Sequence[int], missing: str
) -> tuple[jax.Array, ...]:
    """Makes positions along the first axes of an array such that JAX can drop those that do not exist.

    Args:
        positions: integers, for each axis.
        shape: of the array.
        missing: what the error says before the position, such as `"There is no element"`.

    Raises:
        ValueError: a position does not exist, as far as positions are known while a program is traced.
    """
    found: list[jax.Array] = []
    for indices, size in zip(positions, shape, strict=False):
        _refuse_missing(indices, size, missing)
        # JAX would count negative ones from the end.
        found.append(jnp.where((indices < 0) | (indices >= size), size, indices))
    return tuple(found)


def _refuse_missing(indices: jax.Array, size: int, missing: str) -> None:
    known = not isinstance(indices, Tracer) and indices.is_fully_addressable
    if known and isinstance(size, int):
        numbers = np.asarray(indices)
        wrong = (numbers < 0) | (numbers >= size)
        if wrong.any():
            raise ValueError(
                f"{missing} {int(numbers[wrong][0])} along an axis of {size}: indices must be in "
                f"[0, {size})."
            )
