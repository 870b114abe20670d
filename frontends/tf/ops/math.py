"""Functions of `tf.*` and `tf.math` about numbers, entry by entry or along axes."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import Axis, DTypeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, named, operands, static_axes


def mean_(x: jax.Array, axis: int | tuple[int, ...] | None, keepdims: bool) -> jax.Array:
    """Mean; of integers, an integer, rounded towards zero."""
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.mean(x, axis=axis, keepdims=keepdims)
    total = jnp.sum(x, axis=axis, keepdims=keepdims)  # of 8 and 16 bits, in 32
    count = max(x.size // max(total.size, 1), 1)
    return jax.lax.div(total, jnp.full_like(total, count)).astype(x.dtype)


def sum_(x: jax.Array, axis: int | tuple[int, ...] | None, keepdims: bool) -> jax.Array:
    """Sum, in the dtype of the array."""
    return jnp.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def prod_(x: jax.Array, axis: int | tuple[int, ...] | None, keepdims: bool) -> jax.Array:
    """Product, in the dtype of the array."""
    return jnp.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def max_(x: jax.Array, axis: int | tuple[int, ...] | None, keepdims: bool) -> jax.Array:
    """Largest element; of none, the lowest number that the dtype has."""
    return jnp.max(x, axis=axis, keepdims=keepdims, initial=_limit(x, "min", -jnp.inf))


def min_(x: jax.Array, axis: int | tuple[int, ...] | None, keepdims: bool) -> jax.Array:
    """Smallest element; of none, the highest number that the dtype has."""
    return jnp.min(x, axis=axis, keepdims=keepdims, initial=_limit(x, "max", jnp.inf))


def _limit(x: jax.Array, name: str, infinite: float) -> Any:
    """What a reduction of no elements gives; None if there are elements, on which it has no influence."""
    if x.size:
        return None
    return getattr(jnp.iinfo(x.dtype), name) if jnp.issubdtype(x.dtype, jnp.integer) else infinite


def euclidean_norm_(x: jax.Array, axis: int | tuple[int, ...] | None, keepdims: bool) -> jax.Array:
    """Square root of the sum of squares."""
    return sqrt_(jnp.sum(jnp.square(jnp.abs(x)), axis=axis, keepdims=keepdims))


def masked_gradient(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Makes the gradient zero where the incoming one is, so that infinity behind a mask is not NaN."""

    @functools.wraps(function)
    def forward(x: jax.Array) -> tuple[Any, Any]:
        return jax.vjp(function, x)

    def backward(pullback: Any, above: TensorLike) -> tuple[Any]:
        return (jnp.where(above == 0, 0, pullback(above)[0]),)

    masked = jax.custom_vjp(function)
    masked.defvjp(forward, backward)

    @functools.wraps(function)
    def call(x: jax.Array) -> Any:
        # Integers have no gradient, though their root is not an integer.
        return masked(x) if jnp.issubdtype(x.dtype, jnp.inexact) else function(x)

    return call


sqrt_ = masked_gradient(jnp.sqrt)


def std_(x: jax.Array, axis: int | tuple[int, ...] | None, keepdims: bool) -> jax.Array:
    """Standard deviation, of all the entries and not of a sample."""
    return sqrt_(jnp.var(x, axis=axis, keepdims=keepdims))


def abs_(x: jax.Array) -> jax.Array:
    """Absolute value; its gradient at zero is 0, in JAX 1."""
    return x * jnp.sign(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.abs(x)


def maximum_(x: jax.Array, y: TensorLike) -> jax.Array:
    """The larger one; where both are equal, the gradient is the first one's, in JAX both halve it."""
    return jnp.where(jnp.greater_equal(x, y) | jnp.isnan(x), x, y)


def minimum_(x: jax.Array, y: TensorLike) -> jax.Array:
    """The smaller one; where both are equal, the gradient is the first one's, in JAX both halve it."""
    return jnp.where(jnp.less_equal(x, y) | jnp.isnan(x), x, y)


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> jax.Array:
    """Adds arrays of one shape."""
    total, *rest = [convert_to_tensor(value) for value in inputs]
    for value in rest:
        total = total + value
    return total


def atan2(y: TensorLike, x: jax.Array, name: str | None = None) -> jax.Array:
    """Angle of the point `(x, y)`, in radians."""
    return jnp.arctan2(*operands(y, x))


def divide_no_nan(x: jax.Array, y: TensorLike, name: str | None = None) -> jax.Array:
    """Divides; zero where the divisor is zero."""
    x, y = operands(x, y)
    zero = jnp.equal(y, 0)
    return jnp.where(zero, 0, jnp.true_divide(x, jnp.where(zero, 1, y)))


def squared_difference_(x: jax.Array, y: TensorLike) -> jax.Array:
    """Square of the difference."""
    return jnp.square(jnp.subtract(x, y))


def _cumulative(
    name: str, function: Callable[..., Any], neutral: int, verb: str
) -> Callable[..., Any]:
    """Makes a function that combines each entry with those before it."""

    def combine(
        x: jax.Array,
        axis: int = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> jax.Array:
        x = convert_to_tensor(x)
        x = jnp.flip(x, axis) if reverse else x
        if exclusive:
            # Not the difference to the sum: small numbers beside large ones would be lost.
            kept = jax.lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis)
            first = jnp.full_like(jax.lax.slice_in_dim(x, 0, 1, axis=axis), neutral)
            x = jnp.concatenate([first, kept], axis)
        total = function(x, axis, dtype=x.dtype)
        return jnp.flip(total, axis) if reverse else total

    return named(
        name, f"{verb} up along an axis; `exclusive` leaves out the entry itself.", combine
    )


cumsum = _cumulative("cumsum", jnp.cumsum, 0, "Sums")
cumprod = _cumulative("cumprod", jnp.cumprod, 1, "Multiplies")


def count_nonzero(
    input: TensorLike,
    axis: Axis = None,
    keepdims: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> jax.Array:
    """Counts the elements that are not zero.

    Source: `tf.math.count_nonzero`.
    """
    found = jnp.count_nonzero(
        convert_to_tensor(input), axis=static_axes(axis), keepdims=bool(keepdims)
    )
    return found.astype(jax_dtype(dtype))
