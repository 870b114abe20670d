"""Operations that only TensorFlow 1 has."""

import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf import math, random
from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import cast, jax_dtype
from frontends.tf.ops.control_flow import print_
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


def random_poisson(
    lam: TensorLike,
    shape: ShapeLike,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Draws from Poisson distributions; see `tf.random.poisson`, which takes the shape first.

    Args:
        lam: the rates.
        shape: how many of each.
        dtype: of the result.
        seed: of this operation.

    Source: `tf.compat.v1.random_poisson`.
    """
    return random.poisson(shape, lam, dtype, seed)


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


def Print(
    input_: TensorLike,
    data: Sequence[TensorLike],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Prints values to standard error each time that it runs; see `tf.print`. It prints whether or not the result is used.

    Args:
        input_: what is returned.
        data: what to print.
        message: in front of it.
        first_n: how often to print; None, or a negative number, is always. Each program that is compiled counts anew.
        summarize: how many items to show at the ends of each dimension; None shows three, and -1 all.

    Returns:
        `input_`.

    Source: `tf.compat.v1.Print`.
    """
    limit = None if first_n is None or first_n < 0 else first_n
    print_(
        *(() if message is None else (message,)),
        *data,
        output_stream=_Counted(limit),
        summarize=3 if summarize is None else summarize,
    )
    return convert_to_tensor(input_)


class _Counted:
    """Standard error, for some texts; each ends with `flush`."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit
        self._text = ""

    def write(self, text: str) -> None:
        self._text += text

    def flush(self) -> None:
        text, self._text = self._text, ""
        if self._left is None or self._left > 0:
            sys.stderr.write(text)
            sys.stderr.flush()
        if self._left:
            self._left -= 1
