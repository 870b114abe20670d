"""Operators of which all entries but those of the diagonal are zero."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.linear_operators.operator import LinearOperator
from frontends.tf.ops.convert import convert_to_tensor, static_int, static_shape


class LinearOperatorDiag(LinearOperator):
    """The matrix of a diagonal, `[..., rows]`.

    Source: `tf.linalg.LinearOperatorDiag`.
    """

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        """Takes a diagonal."""
        self._entries = convert_to_tensor(diag)
        if is_self_adjoint is None and not jnp.iscomplexobj(self._entries):
            is_self_adjoint = True
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def diag(self) -> jax.Array:
        """The diagonal."""
        return self._entries

    def _sizes(self) -> tuple[int, ...]:
        return (*self._entries.shape, self._entries.shape[-1])

    def _dtype(self) -> np.dtype:
        return self._entries.dtype

    def _diagonal(self) -> jax.Array:
        return self._entries

    def _dense(self) -> jax.Array:
        entries = self._diagonal()
        return entries[..., None] * jnp.eye(entries.shape[-1], dtype=entries.dtype)

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        entries = self._diagonal()[..., None]
        return (jnp.conj(entries) if adjoint else entries) * x

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        entries = self._diagonal()[..., None]
        return rhs / (jnp.conj(entries) if adjoint else entries)

    def _determinant(self) -> jax.Array:
        return jnp.prod(self._diagonal(), -1)

    def _log_abs_determinant(self) -> jax.Array:
        return jnp.sum(jnp.log(jnp.abs(self._diagonal())), -1)

    def _eigenvalues(self) -> jax.Array:
        return self._diagonal()

    def cond(self, name: str | None = None) -> jax.Array:
        """Computes the ratio of the largest and the smallest entry."""
        sizes = jnp.abs(self._diagonal())
        return jnp.max(sizes, -1) / jnp.min(sizes, -1)

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(jnp.conj(self._entries), self.is_non_singular)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(
            1 / self._entries, True, self.is_self_adjoint, self.is_positive_definite
        )

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(jnp.sqrt(self._entries), True, True, True)


class _OfRows(LinearOperatorDiag):
    """A multiple of the identity, of a number of rows."""

    _rows: int

    def _sizes(self) -> tuple[int, ...]:
        return (*self._entries.shape, self._rows, self._rows)

    def _diagonal(self) -> jax.Array:
        return jnp.broadcast_to(self._entries[..., None], (*self._entries.shape, self._rows))


class LinearOperatorScaledIdentity(_OfRows):
    """A multiple of the identity, for each number of a batch.

    Source: `tf.linalg.LinearOperatorScaledIdentity`.
    """

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        """Takes the number of rows, and what multiplies."""
        super().__init__(
            multiplier, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
        self._rows = static_int(num_rows)

    @property
    def multiplier(self) -> jax.Array:
        """What multiplies."""
        return self._entries

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._rows, jnp.conj(self._entries))

    def _inverse(self) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._rows, 1 / self._entries, True)

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._rows, jnp.sqrt(self._entries), True, True, True)


class LinearOperatorIdentity(_OfRows):
    """The identity.

    Source: `tf.linalg.LinearOperatorIdentity`.
    """

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: ShapeLike = None,
        dtype: DTypeLike = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        """Takes the number of rows."""
        batch = () if batch_shape is None else static_shape(batch_shape)
        ones = jnp.ones(batch, jax_dtype("float32" if dtype is None else dtype))
        super().__init__(
            ones, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
        self._rows = static_int(num_rows)

    def _inverse(self) -> LinearOperator:
        return self

    def _cholesky(self) -> LinearOperator:
        return self


class LinearOperatorZeros(LinearOperator):
    """A matrix of zeros.

    Source: `tf.linalg.LinearOperatorZeros`.
    """

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike = None,
        batch_shape: ShapeLike = None,
        dtype: DTypeLike = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = None,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        """Takes the numbers of rows and columns."""
        rows = static_int(num_rows)
        columns = rows if num_columns is None else static_int(num_columns)
        batch = () if batch_shape is None else static_shape(batch_shape)
        self._shape = (*batch, rows, columns)
        self._kind: Any = jax_dtype("float32" if dtype is None else dtype)
        adjoint = is_self_adjoint if rows == columns else None
        super().__init__(is_non_singular, adjoint, is_positive_definite, is_square, name)

    def _sizes(self) -> tuple[int, ...]:
        return self._shape

    def _dtype(self) -> np.dtype:
        return np.dtype(self._kind)

    def _dense(self) -> jax.Array:
        return jnp.zeros(self._shape, self._kind)
