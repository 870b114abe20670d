"""Functions of `tf.math` about complex numbers, permutations and counts; and quotients in the forms of TensorFlow."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.indexed_slices import on_values
from frontends.tf.ops.convert import convert_to_tensor, known


def complex_(real: TensorLike, imag: TensorLike, name: str | None = None) -> jax.Array:
    """Makes complex numbers of their parts.

    Source: `tf.complex`.
    """
    return jax.lax.complex(convert_to_tensor(real), convert_to_tensor(imag))


def real(input: TensorLike, name: str | None = None) -> jax.Array:
    """Takes the real part."""
    return jnp.real(convert_to_tensor(input))


def imag(input: TensorLike, name: str | None = None) -> jax.Array:
    """Takes the imaginary part; zero for real numbers."""
    return jnp.imag(convert_to_tensor(input))


def angle(input: TensorLike, name: str | None = None) -> jax.Array:
    """Takes the argument of complex numbers; 0 or pi for real ones."""
    return jnp.angle(convert_to_tensor(input))


def invert_permutation(x: TensorLike, name: str | None = None) -> jax.Array:
    """Finds, for each number, where it stands in a permutation."""
    places = convert_to_tensor(x)
    return jnp.zeros_like(places).at[places].set(jnp.arange(len(places), dtype=places.dtype))


def bincount(
    arr: TensorLike,
    weights: TensorLike = None,
    minlength: TensorLike = None,
    maxlength: TensorLike = None,
    dtype: DTypeLike = "int32",
    name: str | None = None,
) -> jax.Array:
    """Counts how often each whole number comes.

    Args:
        arr: numbers from 0 on.
        weights: what each counts; None means 1.
        minlength: of the result at least.
        maxlength: of the result at most; larger numbers are left out.
        dtype: of counts without weights.

    Raises:
        ValueError: the length follows from numbers that only the running program knows.

    Source: `tf.math.bincount`.
    """
    numbers = convert_to_tensor(arr).reshape(-1)
    least, most = (None if one is None else int(known(one)) for one in (minlength, maxlength))
    if most is not None and least == most:
        length = most
    elif isinstance(numbers, Tracer):
        raise ValueError(
            "tf.math.bincount finds out how long its result is by the largest number, which only the running program knows, and "
            "programs have fixed shapes. Give it the length twice: minlength=n, maxlength=n."
        )
    else:
        length = max(int(np.max(np.asarray(numbers), initial=-1)) + 1, least or 0)
        length = length if most is None else min(length, most)
    counted = None if weights is None else convert_to_tensor(weights).reshape(-1)
    kind = jax_dtype(dtype) if counted is None else counted.dtype
    return jnp.zeros(length, kind).at[numbers].add(1 if counted is None else counted, mode="drop")


def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """Multiplies with a number: an array, or the values of `tf.IndexedSlices`."""

    def multiply(x: TensorLike) -> jax.Array:
        array = convert_to_tensor(x)
        return jnp.asarray(convert_to_tensor(scalar), array.dtype) * array

    return on_values(multiply, x)


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> jax.Array:
    """Computes cross products of vectors of three, in the last axis."""
    return jnp.cross(convert_to_tensor(a), convert_to_tensor(b))


def rint(x: TensorLike, name: str | None = None) -> jax.Array:
    """Rounds to whole numbers, halves to even ones."""
    return jnp.round(convert_to_tensor(x))


def lbeta(x: TensorLike, name: str | None = None) -> Any:
    """Computes the logarithm of the beta function, of the numbers in the last axis."""
    numbers = convert_to_tensor(x)
    lgamma = jax.scipy.special.gammaln
    return jnp.sum(lgamma(numbers), axis=-1) - lgamma(jnp.sum(numbers, axis=-1))
