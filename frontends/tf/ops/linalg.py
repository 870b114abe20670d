"""Functions of `tf.linalg`, most of them in `tf.*` as well: products, norms, diagonals and inverses."""

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import Axis, Nested, ShapeLike, TensorLike
from frontends.tf.indexed_slices import is_slices
from frontends.tf.ops.convert import convert_to_tensor, known, static_axes
from frontends.tf.ops.math import add_n, euclidean_norm_


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Multiplies matrices, of which the last two axes are rows and columns; ValueError if they do not fit."""
    left = _matrix(convert_to_tensor(a), transpose_a, adjoint_a)
    right = _matrix(convert_to_tensor(b), transpose_b, adjoint_b)
    if left.ndim > 1 and right.ndim > 1 and left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"tf.matmul: expected a second matrix of {left.shape[-1]} rows, as many as the first one has columns, "
            f"got shapes {tuple(left.shape)} and {tuple(right.shape)}."
        )
    return jnp.matmul(left, right)


def _matrix(x: jax.Array, transpose: bool, adjoint: bool) -> jax.Array:
    x = jnp.swapaxes(x, -1, -2) if transpose or adjoint else x
    return jnp.conj(x) if adjoint else x


def tensordot(a: TensorLike, b: TensorLike, axes: ShapeLike, name: str | None = None) -> jax.Array:
    """Multiplies and sums over axes of both arrays."""
    axes = np.asarray(known(axes)).tolist()
    return jnp.tensordot(convert_to_tensor(a), convert_to_tensor(b), axes)


def einsum(equation: str, *inputs: TensorLike, **kwargs: object) -> jax.Array:
    """Sums over products of arrays, as Einstein wrote them."""
    return jnp.einsum(equation, *map(convert_to_tensor, inputs))


def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: Axis = None,
    keepdims: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Norm of a vector, of each along an axis, or of each matrix in two axes."""
    x, axes = convert_to_tensor(tensor), static_axes(axis)
    if ord in ("euclidean", "fro"):
        return euclidean_norm_(x, axes, bool(keepdims))
    if axes is None:
        result = jnp.linalg.norm(x.ravel(), ord)
        return result.reshape((1,) * x.ndim) if keepdims else result
    return jnp.linalg.norm(x, ord, axes, bool(keepdims))


def global_norm(t_list: Nested, name: str | None = None) -> jax.Array:
    """Euclidean norm of all arrays of a list together; of `tf.IndexedSlices` the values, and None does not count."""
    arrays = [convert_to_tensor(t.values if is_slices(t) else t) for t in t_list if t is not None]
    squares = [jnp.sum(jnp.square(array)) for array in arrays]
    return jnp.sqrt(add_n(squares or [0.0]))


def l2_normalize(
    x: TensorLike, axis: Axis = None, epsilon: float = 1e-12, name: str | None = None
) -> jax.Array:
    """Scales to a Euclidean norm of 1 along axes, or over all of them."""
    x = convert_to_tensor(x)
    squares = jnp.sum(jnp.square(x), axis=static_axes(axis), keepdims=True)
    return x * jax.lax.rsqrt(jnp.maximum(squares, epsilon))


def diag(diagonal: TensorLike, name: str | None = None) -> jax.Array:
    """Makes matrices of their diagonals, in the last axis."""
    entries = convert_to_tensor(diagonal)
    eye = jnp.eye(entries.shape[-1], dtype=bool)
    return jnp.where(eye, entries[..., None], jnp.zeros((), entries.dtype))


def diag_part(input: TensorLike, name: str | None = None) -> jax.Array:
    """Takes the diagonals of matrices, in the last two axes."""
    return jnp.diagonal(convert_to_tensor(input), axis1=-2, axis2=-1)


def trace(x: TensorLike, name: str | None = None) -> jax.Array:
    """Sum of the diagonal, in the last two axes."""
    return jnp.trace(convert_to_tensor(x), axis1=-2, axis2=-1)


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> jax.Array:
    """Inverts matrices."""
    return jnp.linalg.inv(_matrix(convert_to_tensor(input), False, adjoint))


def solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> jax.Array:
    """Solves systems of linear equations; the columns of `rhs` are right-hand sides."""
    return jnp.linalg.solve(
        _matrix(convert_to_tensor(matrix), False, adjoint), convert_to_tensor(rhs)
    )


def det(input: TensorLike, name: str | None = None) -> jax.Array:
    """Determinants of matrices."""
    return jnp.linalg.det(convert_to_tensor(input))


def band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> jax.Array:
    """Keeps the diagonals of matrices from `num_lower` below the main one to `num_upper` above; -1 keeps all.

    Examples:
        >>> band_part([[1, 2], [3, 4]], 0, -1).tolist()
        [[1, 2], [0, 4]]

    Source: `tf.linalg.band_part`.
    """
    x = convert_to_tensor(input)
    rows, columns = x.shape[-2:]
    above = jnp.arange(columns)[None, :] - jnp.arange(rows)[:, None]
    low, high = convert_to_tensor(num_lower), convert_to_tensor(num_upper)
    kept = ((low < 0) | (-above <= low)) & ((high < 0) | (above <= high))
    return jnp.where(kept, x, jnp.zeros_like(x))


def set_diag(input: TensorLike, diagonal: TensorLike, name: str | None = None) -> jax.Array:
    """Replaces the main diagonal of matrices.

    Source: `tf.linalg.set_diag`, without `k`.
    """
    x = convert_to_tensor(input)
    places = jnp.arange(min(x.shape[-2:]))
    return x.at[..., places, places].set(convert_to_tensor(diagonal).astype(x.dtype))
