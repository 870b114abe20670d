"""Functions of `tf.bitwise`, and of `tf.*` that read the bits of numbers as other types."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, named, operands
from frontends.tf.ops.operand_errors import OperandError


def _of_integers(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function of two arrays of integers of one dtype."""

    def combine(x: TensorLike, y: TensorLike, name: str | None = None) -> jax.Array:
        left, right = (convert_to_tensor(one) for one in operands(x, y))
        left = left.astype(right.dtype) if isinstance(x, int) else left
        right = right.astype(left.dtype) if isinstance(y, int) else right
        if left.dtype != right.dtype or not jnp.issubdtype(left.dtype, jnp.integer):
            raise OperandError(
                f"tf.bitwise.{combine.__name__}: expected two arrays of integers of one dtype, got {left.dtype} and "
                f"{right.dtype}. Cast them: tf.cast(x, tf.int32)."
            )
        return function(left, right)

    return named(name, doc, combine)


def _within(y: jax.Array) -> jax.Array:
    """Limits a count of bits to what the dtype has: as processors do it."""
    return jnp.clip(y, 0, y.dtype.itemsize * 8 - 1)


bitwise_and = _of_integers("bitwise_and", "Sets the bits that both numbers have.", jnp.bitwise_and)
bitwise_or = _of_integers(
    "bitwise_or", "Sets the bits that one of the numbers has.", jnp.bitwise_or
)
bitwise_xor = _of_integers(
    "bitwise_xor", "Sets the bits that just one of the numbers has.", jnp.bitwise_xor
)
left_shift = _of_integers(
    "left_shift",
    "Shifts the bits of `x` to the left by `y`, which is limited to the bits that there are.",
    lambda x, y: jnp.left_shift(x, _within(y)),
)
right_shift = _of_integers(
    "right_shift",
    "Shifts the bits of `x` to the right by `y`, which is limited to the bits that there are; the sign stays.",
    lambda x, y: jnp.right_shift(x, _within(y)),
)


def invert(x: TensorLike, name: str | None = None) -> jax.Array:
    """Turns each bit of integers over."""
    return jnp.bitwise_not(convert_to_tensor(x))


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> jax.Array:
    """Reads the bits of numbers as another dtype.

    Args:
        input: numbers.
        type: of the result. One of half the size adds an axis of two, one of twice the size takes it away.

    Source: `tf.bitcast`.
    """
    return jax.lax.bitcast_convert_type(convert_to_tensor(input), jax_dtype(type))


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """Converts numbers; those out of the range of the dtype become its smallest or largest number.

    Source: `tf.saturate_cast`.
    """
    x, target = convert_to_tensor(value), jax_dtype(dtype)
    if jnp.issubdtype(target, jnp.bool_) or jnp.issubdtype(target, jnp.complexfloating):
        return x.astype(target)
    own, limits = (
        (jnp.finfo if jnp.issubdtype(one, jnp.floating) else jnp.iinfo)(one)
        for one in (x.dtype, target)
    )
    low, high = max(float(limits.min), float(own.min)), min(float(limits.max), float(own.max))
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.clip(x, int(low), int(high)).astype(target)
    # The largest integer may have no float of its own, and rounding up would leave the range.
    converted = jnp.clip(x, low, high).astype(target)
    if jnp.issubdtype(target, jnp.integer) and float(limits.max) < float(own.max):
        return jnp.where(x >= high, jnp.asarray(limits.max, target), converted)
    return converted
