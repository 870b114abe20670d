"""`tf.linalg.LinearOperator`: what all operators have.

Each class gives its shape and matrix, and overrides multiplication, solving and so on where its structure allows something
faster. Operators keep the variables that they are made of, and read them whenever they are used.
"""

import abc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import debugging
from frontends.tf._typing import TensorLike
from frontends.tf._user_view import as_dtype_seen
from frontends.tf.gradient_sources import is_variable
from frontends.tf.module import Module
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.tensor_shape import TensorShape

# What operators make of themselves, by the last part of the name; the modules of these classes fill it in.
CLASSES: dict[str, Any] = {}


class LinearOperator(Module, abc.ABC):
    """A matrix, or a batch of matrices, that is known by its structure.

    What the caller says of it (`is_self_adjoint` and its like) is believed, and not checked.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0, 4.0])
        >>> operator.matvec([1.0, 1.0, 1.0]).tolist(), float(operator.determinant())
        ([1.0, 2.0, 4.0], 8.0)

    Source: `tf.linalg.LinearOperator`.
    """

    def __init__(
        self,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Keeps what the caller knows of the matrix."""
        super().__init__(name=name)
        if is_positive_definite and is_non_singular is None:
            is_non_singular = True
        self._non_singular, self._self_adjoint = is_non_singular, is_self_adjoint
        self._positive_definite, self._square = is_positive_definite, is_square

    # ------------------------------------------------------------------------------ a class says

    @abc.abstractmethod
    def _sizes(self) -> tuple[int, ...]:
        """Sizes of the batch, rows and columns."""

    @abc.abstractmethod
    def _dtype(self) -> np.dtype:
        """Type of the entries."""

    @abc.abstractmethod
    def _dense(self) -> jax.Array:
        """Makes the matrix."""

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        matrix = self.to_dense()
        return jnp.matmul(adjoint_of(matrix) if adjoint else matrix, x)

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        matrix = self.to_dense()
        return jnp.linalg.solve(*with_batches(adjoint_of(matrix) if adjoint else matrix, rhs))

    def _diagonal(self) -> jax.Array:
        return jnp.diagonal(self.to_dense(), axis1=-2, axis2=-1)

    def _determinant(self) -> jax.Array:
        return jnp.linalg.det(self.to_dense())

    def _log_abs_determinant(self) -> jax.Array:
        return jnp.linalg.slogdet(self.to_dense())[1]

    def _eigenvalues(self) -> jax.Array:
        return jnp.linalg.eigvalsh(self.to_dense())

    def _adjoint(self) -> "LinearOperator":
        return CLASSES["Adjoint"](self)

    def _inverse(self) -> "LinearOperator":
        return CLASSES["Inversion"](self)

    def _cholesky(self) -> "LinearOperator":
        lower = jnp.linalg.cholesky(self.to_dense())
        return CLASSES["LowerTriangular"](lower, is_non_singular=True)

    # ------------------------------------------------------------------------------------ shape

    @property
    def shape(self) -> TensorShape:
        """Sizes of the batch, rows and columns."""
        return TensorShape(self._sizes())

    @property
    def batch_shape(self) -> TensorShape:
        """Sizes of the batch."""
        return TensorShape(self._sizes()[:-2])

    @property
    def range_dimension(self) -> int:
        """How many rows there are."""
        return self._sizes()[-2]

    @property
    def domain_dimension(self) -> int:
        """How many columns there are."""
        return self._sizes()[-1]

    @property
    def tensor_rank(self) -> int:
        """How many dimensions the matrix has, with those of the batch."""
        return len(self._sizes())

    def shape_tensor(self, name: str | None = None) -> jax.Array:
        """Returns the shape as an array."""
        return jnp.asarray(self._sizes(), jnp.int32)

    def batch_shape_tensor(self, name: str | None = None) -> jax.Array:
        """Returns the sizes of the batch as an array."""
        return jnp.asarray(self._sizes()[:-2], jnp.int32)

    def range_dimension_tensor(self, name: str | None = None) -> jax.Array:
        """Returns the number of rows as an array."""
        return jnp.asarray(self.range_dimension, jnp.int32)

    def domain_dimension_tensor(self, name: str | None = None) -> jax.Array:
        """Returns the number of columns as an array."""
        return jnp.asarray(self.domain_dimension, jnp.int32)

    def tensor_rank_tensor(self, name: str | None = None) -> jax.Array:
        """Returns the number of dimensions as an array."""
        return jnp.asarray(self.tensor_rank, jnp.int32)

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return as_dtype_seen(np.dtype(self._dtype()))

    # ------------------------------------------------------------------------------- what it is

    @property
    def is_non_singular(self) -> bool | None:
        """Whether there is an inverse; None if not specified."""
        return self._non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it is its own adjoint; None if not specified."""
        return self._self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether it is positive definite; None if not specified."""
        return self._positive_definite

    @property
    def is_square(self) -> bool:
        """Whether it has as many rows as columns."""
        return (
            self.range_dimension == self.domain_dimension if self._square is None else self._square
        )

    # --------------------------------------------------------------------------------- products

    def to_dense(self, name: str | None = None) -> jax.Array:
        """Makes the matrix."""
        return self._dense()

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies a matrix `[..., columns, count]`, or makes the operator of a product.

        Args:
            x: a matrix, or another operator.
            adjoint: multiplies by the adjoint.
            adjoint_arg: of the adjoint of `x`.

        Raises:
            ValueError: the sizes do not fit.
        """
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            return CLASSES["Composition"]([left, x.adjoint() if adjoint_arg else x])
        given = self._as_matrix(x, adjoint_arg)
        size = self.range_dimension if adjoint else self.domain_dimension
        _check_rows(given, size, "matmul")
        return self._matmul(given, adjoint)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def __rmatmul__(self, other: TensorLike) -> jax.Array:
        return self._multiply_left(other)

    def _multiply_left(
        self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False
    ) -> jax.Array:
        """Multiplies a matrix `[..., count, rows]` from the right: `x A`, which is the adjoint of `A^H x^H`."""
        return adjoint_of(self.matmul(x, not adjoint, not adjoint_arg))

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str | None = None) -> jax.Array:
        """Multiplies a vector `[..., columns]`."""
        return self.matmul(self._as_matrix(x)[..., None], adjoint)[..., 0]

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = None
    ) -> Any:
        """Solves `A X = rhs`, of a matrix `[..., rows, count]`.

        Raises:
            NotImplementedError: the matrix is not square, or said to be singular.
            ValueError: the sizes do not fit.
        """
        self._check_square("solve")
        if self.is_non_singular is False:
            raise NotImplementedError("solve: the operator is said to be singular.")
        if isinstance(rhs, LinearOperator):
            return self.inverse().matmul(rhs, adjoint, adjoint_arg)
        given = self._as_matrix(rhs, adjoint_arg)
        _check_rows(given, self.domain_dimension, "solve")
        return self._solve(given, adjoint)

    def solvevec(
        self, rhs: TensorLike, adjoint: bool = False, name: str | None = None
    ) -> jax.Array:
        """Solves `A x = rhs`, of a vector `[..., rows]`."""
        return self.solve(self._as_matrix(rhs)[..., None], adjoint)[..., 0]

    def add_to_tensor(self, x: TensorLike, name: str | None = None) -> jax.Array:
        """Adds a matrix to it."""
        return self.to_dense() + self._as_matrix(x)

    def adjoint(self, name: str | None = None) -> "LinearOperator":
        """Returns the operator of the adjoint."""
        return self if self.is_self_adjoint else self._adjoint()

    H = property(adjoint, doc="The operator of the adjoint.")

    def inverse(self, name: str | None = None) -> "LinearOperator":
        """Returns the operator of the inverse.

        Raises:
            NotImplementedError: the matrix is not square.
            ValueError: it is said to be singular.
        """
        self._check_square("inverse")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator is said to be singular.")
        return self._inverse()

    def cholesky(self, name: str | None = None) -> "LinearOperator":
        """Returns the operator of the lower factor.

        Raises:
            ValueError: the matrix is not specified as self-adjoint and positive definite.
        """
        if not (self.is_self_adjoint and self.is_positive_definite):
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix. If it is one, say so: "
                "is_self_adjoint=True, is_positive_definite=True."
            )
        return self._cholesky()

    # ---------------------------------------------------------------------------------- numbers

    def diag_part(self, name: str | None = None) -> jax.Array:
        """Returns the diagonal, `[..., min(rows, columns)]`."""
        return self._diagonal()

    def trace(self, name: str | None = None) -> jax.Array:
        """Sums the diagonal up."""
        return jnp.sum(self.diag_part(), -1)

    def determinant(self, name: str | None = None) -> jax.Array:
        """Computes the determinant; NotImplementedError if the matrix is not square."""
        self._check_square("determinant")
        return self._determinant()

    def log_abs_determinant(self, name: str | None = None) -> jax.Array:
        """Computes the logarithm of the determinant's absolute value; NotImplementedError as for `determinant`."""
        self._check_square("log_abs_determinant")
        return self._log_abs_determinant()

    def eigvals(self, name: str | None = None) -> jax.Array:
        """Computes the eigenvalues; NotImplementedError if the matrix is not specified as self-adjoint."""
        if not self.is_self_adjoint:
            raise NotImplementedError(
                "Only self-adjoint matrices are supported. If it is one, say so: is_self_adjoint=True."
            )
        return self._eigenvalues()

    def cond(self, name: str | None = None) -> jax.Array:
        """Computes the ratio of the largest and the smallest singular value."""
        if self.is_self_adjoint:
            values = jnp.abs(self.eigvals())
        else:
            values = jnp.linalg.svd(self.to_dense(), compute_uv=False)
        return jnp.max(values, -1) / jnp.min(values, -1)

    # --------------------------------------------------------------------------------- checking

    def assert_non_singular(self, name: str | None = None) -> Any:
        """Raises `tf.errors.InvalidArgumentError` if there is no inverse up to precision."""
        bound = 1 / jnp.finfo(self._dtype()).eps
        return debugging.assert_less(
            self.cond(), bound, message="Singular matrix up to precision epsilon."
        )

    def assert_self_adjoint(self, name: str | None = None) -> Any:
        """Raises `tf.errors.InvalidArgumentError` if it is not its own adjoint."""
        matrix = self.to_dense()
        return debugging.assert_equal(
            matrix, adjoint_of(matrix), message="Matrix was not equal to its adjoint."
        )

    def assert_positive_definite(self, name: str | None = None) -> Any:
        """Raises `tf.errors.InvalidArgumentError` if an eigenvalue is not positive."""
        matrix = self.to_dense()
        values = jnp.linalg.eigvalsh((matrix + adjoint_of(matrix)) / 2)
        return debugging.assert_positive(values, message="Matrix was not positive definite.")

    def _check_square(self, what: str) -> None:
        if not self.is_square:
            raise NotImplementedError(
                f"{what}: expected an operator with as many rows as columns, got the shape {self.shape}."
            )

    def _as_matrix(self, value: TensorLike, adjoint: bool = False) -> jax.Array:
        array = convert_to_tensor(value, dtype_hint=self._dtype())
        return adjoint_of(array) if adjoint else array


def kept(value: TensorLike) -> Any:
    """Keeps a variable, whose value is read when the operator is used; makes an array of anything else."""
    return value if is_variable(value) else convert_to_tensor(value)


def self_adjoint_if_real(
    is_self_adjoint: bool | None, values: TensorLike, what: str
) -> bool | None:
    """Adds that an operator is self-adjoint if its values are real; ValueError if the caller says that it is not."""
    if jnp.iscomplexobj(convert_to_tensor(values)):
        return is_self_adjoint
    if is_self_adjoint is False:
        raise ValueError(
            f"{what} always corresponds to a self-adjoint operator: expected is_self_adjoint=True or None, got False. "
            "Leave is_self_adjoint out."
        )
    return True


def adjoint_of(matrix: jax.Array) -> jax.Array:
    """Transposes and conjugates matrices."""
    return jnp.conj(jnp.swapaxes(matrix, -1, -2))


def with_batches(matrix: jax.Array, rhs: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Repeats both for the batch that they have together."""
    batch = jnp.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    return (
        jnp.broadcast_to(matrix, (*batch, *matrix.shape[-2:])),
        jnp.broadcast_to(rhs, (*batch, *rhs.shape[-2:])),
    )


def _check_rows(matrix: jax.Array, size: int, what: str) -> None:
    if matrix.ndim < 2 or matrix.shape[-2] != size:
        raise ValueError(
            f"{what}: Dimensions are not compatible: expected a matrix with {size} rows, got the shape {matrix.shape}."
        )
