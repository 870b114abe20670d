"""Functions of `tf.*` and `tf.math` about quotients, polynomials and running totals, in TensorFlow's forms."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.ops.convert import convert_to_tensor, operands, static_int
from frontends.tf.ops.math import add_n


def accumulate_n(
    inputs: Sequence[TensorLike],
    shape: ShapeLike = None,
    tensor_dtype: Any = None,
    name: str | None = None,
) -> jax.Array:
    """Adds arrays of one shape, as `add_n` does; the shape and the dtype are those of the arrays.

    Source: `tf.math.accumulate_n`.
    """
    return add_n(inputs)


def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> jax.Array:
    """Divides integers, and rounds towards zero.

    Source: `tf.truncatediv`.
    """
    left, right = map(convert_to_tensor, operands(x, y))
    return jax.lax.div(*jnp.broadcast_arrays(left, right.astype(left.dtype)))


def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> jax.Array:
    """What `truncatediv` leaves, with the sign of `x`.

    Source: `tf.truncatemod`.
    """
    left, right = map(convert_to_tensor, operands(x, y))
    return jax.lax.rem(*jnp.broadcast_arrays(left, right.astype(left.dtype)))


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> jax.Array:
    """One by each number; zero where that is zero.

    Source: `tf.math.reciprocal_no_nan`.
    """
    numbers = convert_to_tensor(x)
    zero = numbers == 0
    return jnp.where(zero, 0, 1 / jnp.where(zero, 1, numbers))


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> jax.Array:
    """The number next to `x1`, on the side of `x2`.

    Source: `tf.math.nextafter`.
    """
    return jnp.nextafter(*operands(x1, x2))


def polyval(coeffs: Sequence[TensorLike], x: TensorLike, name: str | None = None) -> jax.Array:
    """Computes a polynomial, by Horner's rule.

    Args:
        coeffs: a list, the one of the highest power first; empty gives zero.
        x: where to compute it.

    Raises:
        ValueError: `coeffs` is no list.

    Source: `tf.math.polyval`.
    """
    if not isinstance(coeffs, list):
        raise ValueError(
            f"tf.math.polyval: argument `coeffs` must be list type. Received type {type(coeffs)}. "
            "Write tf.unstack(coeffs)."
        )
    numbers = convert_to_tensor(x)
    total = jnp.zeros_like(numbers)
    for factor in coeffs:
        total = total * numbers + convert_to_tensor(factor)
    return total


def cumulative_logsumexp(
    x: TensorLike,
    axis: int = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Logarithms of the running totals of exponentials; `exclusive` leaves out the entry itself.

    Source: `tf.math.cumulative_logsumexp`.
    """
    numbers, along = convert_to_tensor(x), static_int(axis)
    numbers = jnp.flip(numbers, along) if reverse else numbers
    if exclusive:
        kept = jax.lax.slice_in_dim(numbers, 0, numbers.shape[along] - 1, axis=along)
        first = jax.lax.slice_in_dim(numbers, 0, 1, axis=along)
        # TensorFlow's stand-in for the logarithm of zero.
        least = jnp.full_like(first, jnp.finfo(numbers.dtype).min)
        numbers = jnp.concatenate([least, kept], along)
    found = jax.lax.cumlogsumexp(numbers, along % numbers.ndim)
    return jnp.flip(found, along) if reverse else found
