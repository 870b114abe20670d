"""Squared deviations from the mean, of which a variance is made, without an array of deviations in between."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def squared_deviations(values: jax.Array, mean: jax.Array, axes: Sequence[int]) -> jax.Array:
    """Sums squared deviations from the mean.

    The mean has no part in the derivative: that of the sum over all values that it is the mean of vanishes, at any
    order. Without this a step computes it, and keeps the deviations in memory from the forward to the backward pass.

    Args:
        values: any array.
        mean: of these values, or of more of which they are a part; fits their shape.
        axes: along which to sum; what else the mean was taken along is to be summed by the caller.

    Returns:
        The sums, with axes of size 1.

    Examples:
        >>> import jax.numpy as jnp
        >>> squared_deviations(jnp.array([1.0, 2.0, 3.0]), jnp.array(2.0), (0,)).tolist()
        [2.0]

    Source: the derivative of the variance, as in batch normalization (https://arxiv.org/abs/1502.03167, section 3).
    """
    return jnp.square(values - mean).sum(axes, keepdims=True)


@squared_deviations.defjvp
def _derivative(axes: Sequence[int], primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    values, mean = primals
    # Behind the barrier XLA takes them for others than those of the forward pass, which it would keep.
    deviations = values - lax.optimization_barrier(mean)
    change = 2 * (deviations * tangents[0]).sum(axes, keepdims=True)
    return squared_deviations(values, mean, axes), change
