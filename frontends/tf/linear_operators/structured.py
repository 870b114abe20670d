"""Operators of few numbers: circulant and Toeplitz matrices, reflections and permutations."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.linear_operators.operator import LinearOperator, kept, self_adjoint_if_real
from frontends.tf.ops.convert import convert_to_tensor


class LinearOperatorCirculant(LinearOperator):
    """A circulant matrix of its spectrum, `[..., rows]`: multiplication and solving are Fourier transforms.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorCirculant([3.0, 1.0, 1.0, 1.0], "float32")
        >>> operator.convolution_kernel().tolist()
        [1.5, 0.5, 0.5, 0.5]

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
        self._spectrum = kept(spectrum)
        self._kind: Any = jax_dtype(input_output_dtype)
        is_self_adjoint = self_adjoint_if_real(is_self_adjoint, self._spectrum, "A real spectrum")
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def spectrum(self) -> Any:
        """The spectrum; the variable, if it was given as one."""
        return self._spectrum

    def _factors(self, adjoint: bool = False) -> jax.Array:
        spectrum = convert_to_tensor(self._spectrum)
        return jnp.conj(spectrum) if adjoint else spectrum

    def convolution_kernel(self, name: str | None = None) -> jax.Array:
        """Returns the first column."""
        return self._real(jnp.fft.ifft(self._factors()))

    def _real(self, values: jax.Array) -> jax.Array:
        real = jnp.real(values) if not jnp.issubdtype(self._kind, jnp.complexfloating) else values
        return real.astype(self._kind)

    def _sizes(self) -> tuple[int, ...]:
        shape = self._factors().shape
        return (*shape, shape[-1])

    def _dtype(self) -> np.dtype:
        return np.dtype(self._kind)

    def _dense(self) -> jax.Array:
        return self._matmul(jnp.eye(self.domain_dimension, dtype=self._kind), False)

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        factors = self._factors(adjoint)[..., None]
        return self._real(jnp.fft.ifft(factors * jnp.fft.fft(x, axis=-2), axis=-2))

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        factors = self._factors(adjoint)[..., None]
        return self._real(jnp.fft.ifft(jnp.fft.fft(rhs, axis=-2) / factors, axis=-2))

    def _diagonal(self) -> jax.Array:
        factors = self._factors()
        return self._real(jnp.broadcast_to(jnp.mean(factors, -1, keepdims=True), factors.shape))

    def _determinant(self) -> jax.Array:
        return self._real(jnp.prod(self._factors(), -1))

    def _log_abs_determinant(self) -> jax.Array:
        return jnp.sum(jnp.log(jnp.abs(self._factors())), -1).astype(self._kind)

    def _eigenvalues(self) -> jax.Array:
        return self._factors()

    def _inverse(self) -> LinearOperator:
        known = True, self.is_self_adjoint, self.is_positive_definite
        return LinearOperatorCirculant(1 / self._factors(), self._kind, *known)

    def _adjoint(self) -> LinearOperator:
        known = self.is_non_singular, self.is_self_adjoint, self.is_positive_definite
        # Of complex numbers, as in TensorFlow.
        return LinearOperatorCirculant(self._factors(adjoint=True), "complex64", *known)

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies; the product of two circulant matrices is one, of complex numbers, as in TensorFlow."""
        if isinstance(x, LinearOperatorCirculant):
            known: Any = map(_both, _said(self), _said(x))
            factors = self._factors(adjoint) * x._factors(adjoint_arg)
            return LinearOperatorCirculant(factors, "complex64", *known)
        return super().matmul(x, adjoint, adjoint_arg)


def _said(operator: LinearOperator) -> tuple[bool | None, ...]:
    self_adjoint = operator.is_self_adjoint
    return operator.is_non_singular, self_adjoint, self_adjoint and operator.is_positive_definite


def _both(first: bool | None, second: bool | None) -> bool | None:
    """Tells what is known of the product of operators that commute."""
    return True if first and second else None


class LinearOperatorToeplitz(LinearOperator):
    """A matrix whose diagonals are constant, of its first column and row, `[..., rows]`.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorToeplitz(col=[1.0, 2.0], row=[1.0, 5.0])
        >>> operator.to_dense().tolist()
        [[1.0, 5.0], [2.0, 1.0]]

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
        self._col, self._row = kept(col), kept(row)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def col(self) -> Any:
        """The first column; the variable, if it was given as one."""
        return self._col

    @property
    def row(self) -> Any:
        """The first row; the variable, if it was given as one."""
        return self._row

    def _sizes(self) -> tuple[int, ...]:
        shape = self._both()[0].shape
        return (*shape, shape[-1])

    def _dtype(self) -> np.dtype:
        return convert_to_tensor(self._col).dtype

    def _both(self) -> list[jax.Array]:
        return jnp.broadcast_arrays(convert_to_tensor(self._col), convert_to_tensor(self._row))

    def _dense(self) -> jax.Array:
        col, row = self._both()
        size = col.shape[-1]
        numbers = jnp.concatenate([row[..., :0:-1], col], -1)
        return numbers[..., np.arange(size)[:, None] - np.arange(size) + size - 1]


class LinearOperatorHouseholder(LinearOperator):
    """The reflection along an axis, `[..., rows]`.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorHouseholder([1.0, 0.0])
        >>> operator.matvec([3.0, 4.0]).tolist()
        [-3.0, 4.0]

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
        self._reflection_axis = kept(reflection_axis)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def reflection_axis(self) -> Any:
        """The axis; the variable, if it was given as one."""
        return self._reflection_axis

    def _axis(self) -> jax.Array:
        return convert_to_tensor(self._reflection_axis)

    def _sizes(self) -> tuple[int, ...]:
        shape = self._axis().shape
        return (*shape, shape[-1])

    def _dtype(self) -> np.dtype:
        return self._axis().dtype

    def _dense(self) -> jax.Array:
        return self._matmul(jnp.eye(self.domain_dimension, dtype=self._dtype()), False)

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        axis = self._axis()
        unit = axis / jnp.linalg.norm(axis, axis=-1, keepdims=True)
        along = jnp.matmul(jnp.conj(unit)[..., None, :], x)
        return x - 2 * unit[..., None] * along

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        return self._matmul(rhs, adjoint)

    def _determinant(self) -> jax.Array:
        return -jnp.ones(self._sizes()[:-2], self._dtype())

    def _log_abs_determinant(self) -> jax.Array:
        return jnp.zeros(self._sizes()[:-2], self._dtype())

    def _inverse(self) -> LinearOperator:
        return self


class LinearOperatorPermutation(LinearOperator):
    """The matrix that takes rows in the order of a permutation, `[..., rows]`.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorPermutation([2, 0, 1])
        >>> operator.matvec([10.0, 20.0, 30.0]).tolist()
        [30.0, 10.0, 20.0]

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
        self._perm = kept(perm)
        self._kind: Any = jax_dtype(dtype)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def perm(self) -> Any:
        """The permutation; the variable, if it was given as one."""
        return self._perm

    def _order(self, inverse: bool = False) -> jax.Array:
        order = convert_to_tensor(self._perm)
        return jnp.argsort(order, -1) if inverse else order

    def _sizes(self) -> tuple[int, ...]:
        shape = self._order().shape
        return (*shape, shape[-1])

    def _dtype(self) -> np.dtype:
        return np.dtype(self._kind)

    def _dense(self) -> jax.Array:
        return jax.nn.one_hot(self._order(), self.domain_dimension, dtype=self._kind)

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        order = self._order(inverse=adjoint)
        batch = jnp.broadcast_shapes(order.shape[:-1], x.shape[:-2])
        rows = jnp.broadcast_to(order, (*batch, order.shape[-1]))[..., None]
        return jnp.take_along_axis(jnp.broadcast_to(x, (*batch, *x.shape[-2:])), rows, -2)

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        return self._matmul(rhs, not adjoint)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorPermutation(self._order(inverse=True), self._kind)

    def _adjoint(self) -> LinearOperator:
        return self._inverse()
