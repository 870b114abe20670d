"""Functions of `tf.linalg` that decompose matrices, and solve with what they find."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import convert_to_tensor


class Qr(NamedTuple):
    """An orthogonal matrix and an upper triangular one, whose product a matrix is."""

    q: Any
    r: Any


class LogDet(NamedTuple):
    """Sign and logarithm of a determinant."""

    sign: Any
    log_abs_determinant: Any


def matrix_transpose(a: TensorLike, name: str | None = None, conjugate: bool = False) -> jax.Array:
    """Swaps the last two axes."""
    x = jnp.swapaxes(convert_to_tensor(a), -1, -2)
    return jnp.conj(x) if conjugate else x


def adjoint(matrix: TensorLike, name: str | None = None) -> jax.Array:
    """Swaps the last two axes, and takes the conjugate."""
    return matrix_transpose(matrix, conjugate=True)


def cholesky(input: TensorLike, name: str | None = None) -> jax.Array:
    """Finds the lower triangular factors of symmetric matrices, of which it reads the lower part."""
    x = convert_to_tensor(input)
    # The gradient is symmetric, as TensorFlow's is.
    symmetric = x + jax.lax.stop_gradient(_symmetric(x) - x)
    return jnp.linalg.cholesky(symmetric, symmetrize_input=True)


def _symmetric(matrix: TensorLike) -> jax.Array:
    """Makes a matrix symmetric by its lower part, which alone gets gradients."""
    x = convert_to_tensor(matrix)
    return jnp.tril(x) + adjoint(jnp.tril(x, -1))


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> jax.Array:
    """Solves systems of linear equations, of whose matrices these are the factors of `cholesky`."""
    lower = convert_to_tensor(chol)
    half = triangular_solve(lower, rhs)
    return triangular_solve(lower, half, adjoint=True)


def triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Solves systems of linear equations with triangular matrices; the columns of `rhs` are right-hand sides."""
    a, b = convert_to_tensor(matrix), convert_to_tensor(rhs)
    shape = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(one, (*shape, *one.shape[-2:])) for one in (a, b))
    return jax.lax.linalg.triangular_solve(
        *(a, b), left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    )


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Decomposes matrices into orthogonal and upper triangular ones."""
    mode = "complete" if full_matrices else "reduced"
    return Qr(*jnp.linalg.qr(convert_to_tensor(input), mode))


def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """Finds singular values, and unless `compute_uv` is False the vectors: `u @ diag(s) @ transpose(v)`."""
    x = convert_to_tensor(tensor)
    if not compute_uv:
        return jnp.linalg.svd(x, compute_uv=False)
    u, s, adjoint_of_v = jnp.linalg.svd(x, full_matrices=full_matrices)
    return s, u, adjoint(adjoint_of_v)


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[jax.Array, jax.Array]:
    """Finds eigenvalues of symmetric matrices, smallest first, and eigenvectors, in columns."""
    return tuple(jnp.linalg.eigh(_symmetric(tensor)))


def eigvalsh(tensor: TensorLike, name: str | None = None) -> jax.Array:
    """Finds eigenvalues of symmetric matrices, smallest first."""
    return jnp.linalg.eigvalsh(_symmetric(tensor))


def logdet(matrix: TensorLike, name: str | None = None) -> jax.Array:
    """Computes logarithms of determinants of positive definite matrices."""
    return 2 * jnp.sum(jnp.log(jnp.diagonal(cholesky(matrix), axis1=-2, axis2=-1)), axis=-1)


def slogdet(input: TensorLike, name: str | None = None) -> LogDet:
    """Computes signs of determinants, and logarithms of their absolute values."""
    return LogDet(*jnp.linalg.slogdet(convert_to_tensor(input)))


def lstsq(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> jax.Array:
    """Solves systems of linear equations in the sense of least squares.

    Args:
        matrix: shape (..., equations, unknowns).
        rhs: shape (..., equations, right-hand sides).
        l2_regularizer: weight of the squares of the solution.
        fast: accepted, and not used: where there are as many equations as unknowns, or more, normal equations are solved.

    Source: `tf.linalg.lstsq`.
    """
    a, b = convert_to_tensor(matrix), convert_to_tensor(rhs)
    rows, columns = a.shape[-2:]
    if rows >= columns:
        gram = adjoint(a) @ a + l2_regularizer * jnp.eye(columns, dtype=a.dtype)
        return cholesky_solve(cholesky(gram), adjoint(a) @ b)
    gram = a @ adjoint(a) + l2_regularizer * jnp.eye(rows, dtype=a.dtype)
    return adjoint(a) @ cholesky_solve(cholesky(gram), b)


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Multiplies matrices with vectors."""
    matrix = convert_to_tensor(a)
    if transpose_a or adjoint_a:
        matrix = matrix_transpose(matrix, conjugate=adjoint_a)
    return (matrix @ convert_to_tensor(b)[..., None])[..., 0]


def expm(input: TensorLike, name: str | None = None) -> jax.Array:
    """Computes exponentials of matrices."""
    return jax.scipy.linalg.expm(convert_to_tensor(input))


def pinv(a: TensorLike, rcond: float | None = None, name: str | None = None) -> jax.Array:
    """Computes pseudo-inverses of matrices; smaller singular values than `rcond` times the largest count as zero."""
    x = convert_to_tensor(a)
    least = 10 * max(x.shape[-2:]) * float(jnp.finfo(x.dtype).eps) if rcond is None else rcond
    return jnp.linalg.pinv(x, rtol=least)


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> jax.Array:
    """Makes of an array one with twice as many axes, which has it as its diagonal."""
    x = convert_to_tensor(diagonal)
    return jnp.diag(x.reshape(-1)).reshape(*x.shape, *x.shape)


def tensor_diag_part(input: TensorLike, name: str | None = None) -> jax.Array:
    """Takes the diagonal of an array whose second half of axes is like the first."""
    x = convert_to_tensor(input)
    shape = x.shape[: x.ndim // 2]
    size = math.prod(shape)
    return jnp.diagonal(x.reshape(size, size)).reshape(shape)
