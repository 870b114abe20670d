"""Operators of which all entries but those of the diagonal are zero."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.linear_operators.operator import LinearOperator, kept, self_adjoint_if_real
from frontends.tf.ops.convert import convert_to_tensor, static_int, static_shape
from frontends.tf.ops.linalg import diag as diag_of


class _OfDiagonal(LinearOperator):
    """An operator of its diagonal, which `_diagonal` gives."""

    def _sizes(self) -> tuple[int, ...]:
        shape = self._diagonal().shape
        return (*shape, shape[-1])

    def _dtype(self) -> np.dtype:
        return self._diagonal().dtype

    def _dense(self) -> jax.Array:
        return diag_of(self._diagonal())

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


class LinearOperatorDiag(_OfDiagonal):
    """The matrix of a diagonal, `[..., rows]`.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> operator.inverse().diag.tolist()
        [1.0, 0.5]

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
        self._diag = kept(diag)
        is_self_adjoint = self_adjoint_if_real(is_self_adjoint, self._diag, "A real diagonal")
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def diag(self) -> Any:
        """The diagonal; the variable, if it was given as one."""
        return self._diag

    def _diagonal(self) -> jax.Array:
        return convert_to_tensor(self._diag)

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(jnp.conj(self._diagonal()), self.is_non_singular)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(
            1 / self._diagonal(), True, self.is_self_adjoint, self.is_positive_definite
        )

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(jnp.sqrt(self._diagonal()), True, True, True)


class LinearOperatorScaledIdentity(_OfDiagonal):
    """A multiple of the identity, for each number of a batch.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0)
        >>> operator.matvec([1.0, 2.0]).tolist()
        [3.0, 6.0]

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
        self._rows, self._multiplier = static_int(num_rows), kept(multiplier)
        is_self_adjoint = self_adjoint_if_real(
            is_self_adjoint, self._multiplier, "A real multiplier"
        )
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def multiplier(self) -> Any:
        """What multiplies; the variable, if it was given as one."""
        return self._multiplier

    def _diagonal(self) -> jax.Array:
        return _repeated(convert_to_tensor(self._multiplier), self._rows)

    def _adjoint(self) -> LinearOperator:
        multiplier = convert_to_tensor(self._multiplier)
        return LinearOperatorScaledIdentity(self._rows, jnp.conj(multiplier))

    def _inverse(self) -> LinearOperator:
        multiplier = convert_to_tensor(self._multiplier)
        return LinearOperatorScaledIdentity(self._rows, 1 / multiplier, True)

    def _cholesky(self) -> LinearOperator:
        multiplier = convert_to_tensor(self._multiplier)
        return LinearOperatorScaledIdentity(self._rows, jnp.sqrt(multiplier), True, True, True)


class LinearOperatorIdentity(_OfDiagonal):
    """The identity.

    Examples:
        >>> from frontends import tf
        >>> tf.linalg.LinearOperatorIdentity(2, batch_shape=[5]).shape.as_list()
        [5, 2, 2]

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
        self._ones = jnp.ones(batch, jax_dtype("float32" if dtype is None else dtype))
        self._rows = static_int(num_rows)
        is_self_adjoint = self_adjoint_if_real(is_self_adjoint, 1.0, "An identity")
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _diagonal(self) -> jax.Array:
        return _repeated(self._ones, self._rows)

    def _inverse(self) -> LinearOperator:
        return self

    def _cholesky(self) -> LinearOperator:
        return self


def _repeated(numbers: jax.Array, rows: int) -> jax.Array:
    """Makes a diagonal of each number."""
    return jnp.broadcast_to(numbers[..., None], (*numbers.shape, rows))


class LinearOperatorZeros(LinearOperator):
    """A matrix of zeros.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorZeros(2, 3, is_square=False)
        >>> operator.matvec([1.0, 2.0, 3.0]).tolist()
        [0.0, 0.0]

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
