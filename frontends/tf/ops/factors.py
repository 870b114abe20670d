"""Functions of `tf.linalg` beside the usual decompositions: LU, general eigenvalues, roots, bands of matrices."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import Axis, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, static_axes
from frontends.tf.ops.decompositions import triangular_solve
from frontends.tf.ops.linalg import norm


class Lu(NamedTuple):
    """The triangular factors of a matrix in one, and the order of its rows.

    Source: the result of `tf.linalg.lu`.
    """

    lu: Any
    p: Any


def normalize(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: Axis = None,
    name: str | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Divides by a norm; returns the quotient and the norm, whose axes have size 1.

    Source: `tf.linalg.normalize`.
    """
    x = convert_to_tensor(tensor)
    size = norm(x, ord, static_axes(axis), True).astype(x.dtype)
    return x / size, size


def eig(tensor: TensorLike, name: str | None = None) -> tuple[jax.Array, jax.Array]:
    """Finds the eigenvalues of matrices, complex numbers, and the eigenvectors, in columns; on CPUs only.

    Source: `tf.linalg.eig`.
    """
    values, vectors = jnp.linalg.eig(convert_to_tensor(tensor))
    return values, vectors


def eigvals(tensor: TensorLike, name: str | None = None) -> jax.Array:
    """Finds the eigenvalues of matrices, complex numbers; on CPUs only.

    Source: `tf.linalg.eigvals`.
    """
    return jnp.linalg.eigvals(convert_to_tensor(tensor))


def lu(input: TensorLike, output_idx_type: Any = "int32", name: str | None = None) -> Lu:
    """Decomposes matrices into a lower and an upper triangular one, after an exchange of rows.

    Returns:
        Both factors in one matrix, without the ones of the lower one's diagonal; and for each row, which one of the
        input it was.

    Source: `tf.linalg.lu`.
    """
    factors, _, order = jax.lax.linalg.lu(convert_to_tensor(input))
    return Lu(factors, order.astype(jax_dtype(output_idx_type)))


def _triangles(factors: jax.Array) -> tuple[jax.Array, jax.Array]:
    eye = jnp.eye(factors.shape[-1], dtype=factors.dtype)
    return jnp.tril(factors, -1) + eye, jnp.triu(factors)


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> jax.Array:
    """Makes the matrices anew of what `lu` returned.

    Source: `tf.linalg.lu_reconstruct`.
    """
    lower, upper = _triangles(convert_to_tensor(lower_upper))
    rows = jnp.argsort(convert_to_tensor(perm), axis=-1)
    return jnp.take_along_axis(lower @ upper, rows[..., None], axis=-2)


def lu_solve(
    lower_upper: TensorLike,
    perm: TensorLike,
    rhs: TensorLike,
    validate_args: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Solves systems of linear equations, of whose matrices `lu` found the factors.

    Source: `tf.linalg.lu_solve`.
    """
    lower, upper = _triangles(convert_to_tensor(lower_upper))
    order, sides = convert_to_tensor(perm), convert_to_tensor(rhs)
    outer = jnp.broadcast_shapes(order.shape[:-1], sides.shape[:-2])
    order = jnp.broadcast_to(order, (*outer, order.shape[-1]))
    sides = jnp.broadcast_to(sides, (*outer, *sides.shape[-2:]))
    sides = jnp.take_along_axis(sides, order[..., None], axis=-2)
    return triangular_solve(upper, triangular_solve(lower, sides), lower=False)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> jax.Array:
    """Inverts matrices, of which `lu` found the factors.

    Source: `tf.linalg.lu_matrix_inverse`.
    """
    factors = convert_to_tensor(lower_upper)
    eye = jnp.broadcast_to(jnp.eye(factors.shape[-1], dtype=factors.dtype), factors.shape)
    return lu_solve(factors, perm, eye)


def matrix_rank(
    a: TensorLike, tol: TensorLike = None, validate_args: bool = False, name: str | None = None
) -> jax.Array:
    """Counts the singular values above `tol`, of each matrix; None takes rounding of the largest one.

    Source: `tf.linalg.matrix_rank`.
    """
    x = convert_to_tensor(a)
    values = jnp.linalg.svd(x, compute_uv=False)
    if tol is None:
        eps = jnp.finfo(x.dtype).eps
        least = eps * max(x.shape[-2:]) * jnp.max(values, axis=-1, keepdims=True)
    else:
        least = convert_to_tensor(tol)
    return jnp.sum(values > least, axis=-1, dtype=jnp.int32)


def sqrtm(input: TensorLike, name: str | None = None) -> jax.Array:
    """Finds the square roots of matrices; of real ones, the real root.

    Source: `tf.linalg.sqrtm`.
    """
    x = convert_to_tensor(input)
    flat = x.reshape(-1, *x.shape[-2:])
    roots = jnp.stack([jax.scipy.linalg.sqrtm(one) for one in flat]) if len(flat) else flat
    roots = roots if jnp.issubdtype(x.dtype, jnp.complexfloating) else jnp.real(roots)
    return roots.reshape(x.shape).astype(x.dtype)


def logm(input: TensorLike, name: str | None = None) -> jax.Array:
    """Finds the logarithms of complex matrices that have a full set of eigenvectors; on CPUs only.

    Source: `tf.linalg.logm`.
    """
    x = convert_to_tensor(input)
    values, vectors = jnp.linalg.eig(x)
    scaled = vectors * jnp.log(values)[..., None, :]
    return jnp.matmul(scaled, jnp.linalg.inv(vectors)).astype(x.dtype)


def _diagonals(diagonals: Any, form: str) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Reads a tridiagonal matrix, as its upper, main and lower diagonals of one length."""
    if form == "sequence":
        upper, main, lower = map(convert_to_tensor, diagonals)
        # Short ones lack the entry that lies outside of the matrix.
        size = main.shape[-1]
        pads = [(0, 0)] * (main.ndim - 1)
        upper = jnp.pad(upper, [*pads, (0, size - upper.shape[-1])])
        lower = jnp.pad(lower, [*pads, (size - lower.shape[-1], 0)])
        return upper, main, lower
    x = convert_to_tensor(diagonals)
    if form == "compact":
        return x[..., 0, :], x[..., 1, :], x[..., 2, :]
    if form != "matrix":
        raise ValueError(
            f'diagonals_format must be "compact", "sequence" or "matrix", got {form!r}.'
        )
    upper, main, lower = (jnp.diagonal(x, one, -2, -1) for one in (1, 0, -1))
    pads = [(0, 0)] * (x.ndim - 2)
    return jnp.pad(upper, [*pads, (0, 1)]), main, jnp.pad(lower, [*pads, (1, 0)])


def tridiagonal_matmul(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> jax.Array:
    """Multiplies tridiagonal matrices with others.

    Args:
        diagonals: the upper, the main and the lower diagonal, in the last but one axis (`"compact"`), as three
            arrays (`"sequence"`), or the matrix itself (`"matrix"`). What lies outside of the matrix is not read.
        rhs: matrices.
        diagonals_format: see there.

    Source: `tf.linalg.tridiagonal_matmul`.
    """
    upper, main, lower = _diagonals(diagonals, diagonals_format)
    x = convert_to_tensor(rhs)
    below, above = jnp.zeros_like(x[..., :1, :]), jnp.zeros_like(x[..., :1, :])
    after = jnp.concatenate([x[..., 1:, :], below], -2)
    before = jnp.concatenate([above, x[..., :-1, :]], -2)
    return upper[..., None] * after + main[..., None] * x + lower[..., None] * before


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> jax.Array:
    """Solves systems of linear equations with tridiagonal matrices.

    Args:
        diagonals: see `tridiagonal_matmul`.
        rhs: the right-hand sides: vectors, or matrices that have them in their columns.
        diagonals_format: see `tridiagonal_matmul`.
        transpose_rhs: whether `rhs` has them in its rows.
        conjugate_rhs: whether to take the conjugate of `rhs`.
        partial_pivoting: accepted, and not used: rows are exchanged where that is needed.
        perturb_singular: accepted, and not used: a singular matrix gives numbers that are not finite.

    Source: `tf.linalg.tridiagonal_solve`.
    """
    upper, main, lower = _diagonals(diagonals, diagonals_format)
    size = main.shape[-1]
    matrix = (
        jnp.zeros((*main.shape, size), main.dtype)
        .at[..., jnp.arange(size), jnp.arange(size)]
        .set(main)
        .at[..., jnp.arange(size - 1), jnp.arange(1, size)]
        .set(upper[..., :-1])
        .at[..., jnp.arange(1, size), jnp.arange(size - 1)]
        .set(lower[..., 1:])
    )
    sides = convert_to_tensor(rhs)
    vectors = sides.ndim == main.ndim
    sides = jnp.conj(sides) if conjugate_rhs else sides
    sides = jnp.swapaxes(sides, -1, -2) if transpose_rhs and not vectors else sides
    sides = sides[..., None] if vectors else sides
    found = jnp.linalg.solve(matrix, sides)
    return found[..., 0] if vectors else found


def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: TensorLike = None,
    name: str | None = None,
) -> Any:
    """Finds eigenvalues of a symmetric tridiagonal matrix, smallest first, and eigenvectors, in columns.

    Args:
        alpha: the main diagonal.
        beta: the one beside it.
        eigvals_only: whether to leave out the eigenvectors.
        select: `"a"` for all, `"i"` for those with numbers in `select_range`, both ends included, `"v"` for those
            whose values lie in it, without its lower end.
        select_range: two numbers.
        tol: accepted, and not used: they are as exact as the dtype.

    Source: `tf.linalg.eigh_tridiagonal`.
    """
    main, beside = convert_to_tensor(alpha), convert_to_tensor(beta)
    matrix = jnp.diag(main) + jnp.diag(jnp.conj(beside), 1) + jnp.diag(beside, -1)
    values, vectors = jnp.linalg.eigh(matrix)
    if select == "i":
        first, last = (int(one) for one in np.asarray(select_range))
        chosen: Any = slice(first, last + 1)
    elif select == "v":
        low, high = np.asarray(select_range)
        chosen = (values > low) & (values <= high)
    else:
        chosen = slice(None)
    return values[chosen] if eigvals_only else (values[chosen], vectors[:, chosen])


def banded_triangular_solve(
    bands: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Solves systems of linear equations with triangular matrices that have few diagonals.

    Args:
        bands: the diagonals in the last but one axis, the main one first if `lower`, else last; aligned as columns.
        rhs: right-hand sides, in columns.
        lower: whether the matrices are lower triangular ones.
        adjoint: whether to solve with their adjoints.

    Source: `tf.linalg.banded_triangular_solve`.
    """
    rows = convert_to_tensor(bands)
    count, size = rows.shape[-2:]
    matrix = jnp.zeros((*rows.shape[:-2], size, size), rows.dtype)
    for number in range(count):
        offset = number if lower else count - 1 - number
        at = jnp.arange(size - offset)
        if lower:  # of a row, the entry in column j stands at its own row
            matrix = matrix.at[..., at + offset, at].set(rows[..., number, offset:])
        else:
            matrix = matrix.at[..., at, at + offset].set(rows[..., number, : size - offset])
    return triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)
