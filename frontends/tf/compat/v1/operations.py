"""Operations that only TensorFlow 1 has."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf import math, random
from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import cast, jax_dtype
from frontends.tf.ops.convert import convert_to_tensor


def to_float(x: TensorLike, name: str | None = None) -> jax.Array:
    """Casts to `tf.float32`, of the same shape.

    Source: `tf.compat.v1.to_float`.
    """
    return cast(x, jnp.float32)


def to_double(x: TensorLike, name: str | None = None) -> jax.Array:
    """Casts to `tf.float64`; see `tf.cast` for what that is where JAX has 32 bits.

    Source: `tf.compat.v1.to_double`.
    """
    return cast(x, "float64")


def to_int32(x: TensorLike, name: str | None = None) -> jax.Array:
    """Casts to `tf.int32`, of the same shape; drops what is after the point.

    Source: `tf.compat.v1.to_int32`.
    """
    return cast(x, jnp.int32)


def to_int64(x: TensorLike, name: str | None = None) -> jax.Array:
    """Casts to `tf.int64`; see `tf.cast` for what that is where JAX has 32 bits.

    Source: `tf.compat.v1.to_int64`.
    """
    return cast(x, "int64")


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> jax.Array:
    """Divides as Python 2 does: whole numbers give whole numbers, rounded down.

    Args:
        x: of any shape.
        y: of a shape that broadcasts with it.

    Source: `tf.compat.v1.div`.
    """
    first, second = convert_to_tensor(x), convert_to_tensor(y)
    are_real = any(jnp.issubdtype(one.dtype, jnp.inexact) for one in (first, second))
    return math.divide(x, y) if are_real else math.floordiv(x, y)


def arg_max(
    input: TensorLike, dimension: int, output_type: DTypeLike = "int64", name: str | None = None
) -> jax.Array:
    """Finds where the largest values along an axis are; see `tf.argmax`.

    Source: `tf.compat.v1.arg_max`.
    """
    return math.argmax(input, dimension, output_type)


def arg_min(
    input: TensorLike, dimension: int, output_type: DTypeLike = "int64", name: str | None = None
) -> jax.Array:
    """Finds where the smallest values along an axis are; see `tf.argmin`.

    Source: `tf.compat.v1.arg_min`.
    """
    return math.argmin(input, dimension, output_type)


def multinomial(
    logits: TensorLike,
    num_samples: int,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> jax.Array:
    """Draws classes by their unnormalized log-probabilities; see `tf.random.categorical`.

    Args:
        logits: of shape (rows, classes).
        num_samples: to draw for each row.
        seed: of this operation.
        output_dtype: None means int64.

    Raises:
        ValueError: `logits` is not a matrix.

    Source: `tf.compat.v1.multinomial`.
    """
    return random.categorical(logits, num_samples, output_dtype, seed)


def setdiff1d(
    x: TensorLike, y: TensorLike, index_dtype: DTypeLike = "int32", name: str | None = None
) -> tuple[jax.Array, jax.Array]:
    """Lists the elements of a vector that another one lacks, and their places.

    Raises:
        ValueError: the elements are known only when the program runs, and so is how many are left.

    Source: `tf.compat.v1.setdiff1d`.
    """
    first, second = convert_to_tensor(x), convert_to_tensor(y)
    if isinstance(first, Tracer) or isinstance(second, Tracer):
        raise ValueError(
            "tf.setdiff1d finds a number of elements that only the running program knows, and programs have fixed shapes. Make a "
            "mask: ~tf.reduce_any(x[:, None] == y, axis=1)."
        )
    (places,) = np.nonzero(~np.isin(np.asarray(first), np.asarray(second)))
    return first[places], jnp.asarray(places, jax_dtype(index_dtype))
