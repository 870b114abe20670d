"""Operators that have their matrix: full ones, and lower triangular ones."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from frontends.tf._typing import TensorLike
from frontends.tf.linear_operators.operator import CLASSES, LinearOperator, kept, with_batches
from frontends.tf.ops.convert import convert_to_tensor


class _OfMatrix(LinearOperator):
    """An operator that has its matrix, which `_dense` gives."""

    def __init__(self, *known: Any) -> None:
        super().__init__(*known)
        if len(self._sizes()) < 2:
            raise ValueError(f"Expected at least 2 dimensions, got the shape {self._sizes()}.")

    def _sizes(self) -> tuple[int, ...]:
        return self._dense().shape

    def _dtype(self) -> np.dtype:
        return self._dense().dtype


class LinearOperatorFullMatrix(_OfMatrix):
    """A matrix `[..., rows, columns]` as an operator.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [0.0, 4.0]])
        >>> operator.solvevec([4.0, 8.0]).tolist()
        [1.0, 2.0]

    Source: `tf.linalg.LinearOperatorFullMatrix`.
    """

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        """Takes a matrix."""
        self._matrix = kept(matrix)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def matrix(self) -> Any:
        """The matrix; the variable, if it was given as one."""
        return self._matrix

    def _dense(self) -> jax.Array:
        return convert_to_tensor(self._matrix)


class LinearOperatorLowerTriangular(_OfMatrix):
    """The lower triangle of a square matrix; entries above the diagonal are ignored.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
        >>> operator.to_dense().tolist()
        [[2.0, 0.0], [1.0, 4.0]]

    Source: `tf.linalg.LinearOperatorLowerTriangular`.
    """

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        """Takes a matrix."""
        self._tril = kept(tril)
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def tril(self) -> Any:
        """The matrix as it was given, with what is above the diagonal; the variable, if it was given as one."""
        return self._tril

    def _dense(self) -> jax.Array:
        return jnp.tril(convert_to_tensor(self._tril))

    def _diagonal(self) -> jax.Array:
        return jnp.diagonal(convert_to_tensor(self._tril), axis1=-2, axis2=-1)

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        trans = "C" if adjoint else "N"
        return solve_triangular(*with_batches(self._dense(), rhs), trans=trans, lower=True)

    def _determinant(self) -> jax.Array:
        return jnp.prod(self._diagonal(), -1)

    def _log_abs_determinant(self) -> jax.Array:
        return jnp.sum(jnp.log(jnp.abs(self._diagonal())), -1)


CLASSES["LowerTriangular"] = LinearOperatorLowerTriangular
