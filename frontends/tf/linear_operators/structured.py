"""Operators of few numbers: circulant and Toeplitz matrices, reflections and permutations."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.linear_operators.operator import LinearOperator
from frontends.tf.ops.convert import convert_to_tensor


class LinearOperatorCirculant(LinearOperator):
    """A circulant matrix of its spectrum, `[..., rows]`: multiplication and solving are Fourier transforms.

    Source: `tf.linalg.LinearOperatorCirculant`.
    """

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = "complex64",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        """Takes the spectrum, and the type of what is multiplied."""
        self._given = convert_to_tensor(spectrum)
        self._kind: Any = jax_dtype(input_output_dtype)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def spectrum(self) -> jax.Array:
        """The spectrum."""
        return self._given

    def convolution_kernel(self, name: str | None = None) -> jax.Array:
        """Returns the first column."""
        return self._real(jnp.fft.ifft(self._given))

    def _real(self, values: jax.Array) -> jax.Array:
        real = jnp.real(values) if not jnp.issubdtype(self._kind, jnp.complexfloating) else values
        return real.astype(self._kind)

    def _sizes(self) -> tuple[int, ...]:
        return (*self._given.shape, self._given.shape[-1])

    def _dtype(self) -> np.dtype:
        return np.dtype(self._kind)

    def _dense(self) -> jax.Array:
        return self._matmul(jnp.eye(self._given.shape[-1], dtype=self._kind), False)

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        factors = (jnp.conj(self._given) if adjoint else self._given)[..., None]
        return self._real(jnp.fft.ifft(factors * jnp.fft.fft(x, axis=-2), axis=-2))

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        factors = (jnp.conj(self._given) if adjoint else self._given)[..., None]
        return self._real(jnp.fft.ifft(jnp.fft.fft(rhs, axis=-2) / factors, axis=-2))

    def _diagonal(self) -> jax.Array:
        return self._real(
            jnp.broadcast_to(jnp.mean(self._given, -1, keepdims=True), self._given.shape)
        )

    def _determinant(self) -> jax.Array:
        return self._real(jnp.prod(self._given, -1))

    def _log_abs_determinant(self) -> jax.Array:
        return jnp.sum(jnp.log(jnp.abs(self._given)), -1).astype(self._kind)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorCirculant(1 / self._given, self._kind, is_non_singular=True)

    def _adjoint(self) -> LinearOperator:
        # Of complex numbers, as in TensorFlow.
        return LinearOperatorCirculant(jnp.conj(self._given))

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies; the product of two circulant matrices is one, of complex numbers, as in TensorFlow."""
        if isinstance(x, LinearOperatorCirculant):
            own = jnp.conj(self._given) if adjoint else self._given
            return LinearOperatorCirculant(
                own * (jnp.conj(x.spectrum) if adjoint_arg else x.spectrum)
            )
        return super().matmul(x, adjoint, adjoint_arg)


class LinearOperatorToeplitz(LinearOperator):
    """A matrix whose diagonals are constant, of its first column and row, `[..., rows]`.

    Source: `tf.linalg.LinearOperatorToeplitz`.
    """

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        """Takes the first column and row; the first entry is the column's."""
        self._col, self._row = jnp.broadcast_arrays(convert_to_tensor(col), convert_to_tensor(row))
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def col(self) -> jax.Array:
        """The first column."""
        return self._col

    @property
    def row(self) -> jax.Array:
        """The first row."""
        return self._row

    def _sizes(self) -> tuple[int, ...]:
        return (*self._col.shape, self._col.shape[-1])

    def _dtype(self) -> np.dtype:
        return self._col.dtype

    def _dense(self) -> jax.Array:
        size = self._col.shape[-1]
        numbers = jnp.concatenate([self._row[..., :0:-1], self._col], -1)
        return numbers[..., np.arange(size)[:, None] - np.arange(size) + size - 1]


class LinearOperatorHouseholder(LinearOperator):
    """The reflection along an axis, `[..., rows]`.

    Source: `tf.linalg.LinearOperatorHouseholder`.
    """

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        """Takes the axis, of any length."""
        self._axis = convert_to_tensor(reflection_axis)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def reflection_axis(self) -> jax.Array:
        """The axis."""
        return self._axis

    def _sizes(self) -> tuple[int, ...]:
        return (*self._axis.shape, self._axis.shape[-1])

    def _dtype(self) -> np.dtype:
        return self._axis.dtype

    def _dense(self) -> jax.Array:
        return self._matmul(jnp.eye(self._axis.shape[-1], dtype=self._axis.dtype), False)

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        unit = self._axis / jnp.linalg.norm(self._axis, axis=-1, keepdims=True)
        along = jnp.matmul(jnp.conj(unit)[..., None, :], x)
        return x - 2 * unit[..., None] * along

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        return self._matmul(rhs, adjoint)

    def _determinant(self) -> jax.Array:
        return -jnp.ones(self._axis.shape[:-1], self._axis.dtype)

    def _log_abs_determinant(self) -> jax.Array:
        return jnp.zeros(self._axis.shape[:-1], self._axis.dtype)

    def _inverse(self) -> LinearOperator:
        return self


class LinearOperatorPermutation(LinearOperator):
    """The matrix that takes rows in the order of a permutation, `[..., rows]`.

    Source: `tf.linalg.LinearOperatorPermutation`.
    """

    def __init__(
        self,
        perm: TensorLike,
        dtype: DTypeLike = "float32",
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        """Takes the permutation."""
        self._perm = convert_to_tensor(perm)
        self._kind: Any = jax_dtype(dtype)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def perm(self) -> jax.Array:
        """The permutation."""
        return self._perm

    def _sizes(self) -> tuple[int, ...]:
        return (*self._perm.shape, self._perm.shape[-1])

    def _dtype(self) -> np.dtype:
        return np.dtype(self._kind)

    def _dense(self) -> jax.Array:
        return jax.nn.one_hot(self._perm, self._perm.shape[-1], dtype=self._kind)

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        order = jnp.argsort(self._perm, -1) if adjoint else self._perm
        batch = jnp.broadcast_shapes(order.shape[:-1], x.shape[:-2])
        rows = jnp.broadcast_to(order, (*batch, order.shape[-1]))[..., None]
        return jnp.take_along_axis(jnp.broadcast_to(x, (*batch, *x.shape[-2:])), rows, -2)

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        return self._matmul(rhs, not adjoint)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorPermutation(jnp.argsort(self._perm, -1), self._kind)

    def _adjoint(self) -> LinearOperator:
        return self._inverse()
