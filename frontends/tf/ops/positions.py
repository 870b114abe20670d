"""Places in an array, of which some may not exist."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
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
        ValueError: a position does not exist. In a program, nothing raises.
    """
    found: list[jax.Array] = []
    for indices, size in zip(positions, shape, strict=False):
        wrong = (indices < 0) | (indices >= size)
        if not isinstance(wrong, Tracer) and wrong.any():
            raise ValueError(
                f"{missing} {int(indices[wrong][0])} along an axis of {size}: indices must be in "
                f"[0, {size})."
            )
        # JAX would count negative ones from the end.
        found.append(jnp.where(wrong, size, indices))
    return tuple(found)
