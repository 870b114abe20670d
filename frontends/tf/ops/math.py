"""Functions of `tf.*`, `tf.math` and `tf.linalg` about numbers."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.dtypes import cast, jax_dtype
from frontends.tf.ops.convert import (
    activation,
    binary,
    convert_to_tensor,
    operands,
    reduction,
    static_axes,
    unary,
)


class TopK(NamedTuple):
    """What `tf.math.top_k` returns.

    Attributes:
        values: the largest numbers.
        indices: where they were, int32.
    """

    values: jax.Array
    indices: jax.Array


def mean_(x: jax.Array, axis: Any, keepdims: bool) -> jax.Array:
    """Mean; of integers, an integer, rounded towards zero."""
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.mean(x, axis=axis, keepdims=keepdims)
    total = jnp.sum(x, axis=axis, keepdims=keepdims)  # of 8 and 16 bits, in 32
    count = max(x.size // max(total.size, 1), 1)
    return jax.lax.div(total, jnp.full_like(total, count)).astype(x.dtype)


def sum_(x: jax.Array, axis: Any, keepdims: bool) -> jax.Array:
    """Sum, in the dtype of the array."""
    return jnp.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def prod_(x: jax.Array, axis: Any, keepdims: bool) -> jax.Array:
    """Product, in the dtype of the array."""
    return jnp.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def euclidean_norm_(x: jax.Array, axis: Any, keepdims: bool) -> jax.Array:
    """Square root of the sum of squares."""
    return sqrt_(jnp.sum(jnp.square(jnp.abs(x)), axis=axis, keepdims=keepdims))


def _masked_gradient(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Makes the gradient zero where what comes from above is: behind a mask, infinity is not NaN."""

    @functools.wraps(function)
    def forward(x: Any) -> tuple[Any, Any]:
        return jax.vjp(function, x)

    def backward(pullback: Any, above: Any) -> tuple[Any]:
        return (jnp.where(above == 0, 0, pullback(above)[0]),)

    masked = jax.custom_vjp(function)
    masked.defvjp(forward, backward)

    @functools.wraps(function)
    def call(x: Any) -> Any:
        # Integers have no gradient, but a root that is no integer.
        return masked(x) if jnp.issubdtype(x.dtype, jnp.inexact) else function(x)

    return call


sqrt_ = _masked_gradient(jnp.sqrt)


def std_(x: jax.Array, axis: Any, keepdims: bool) -> jax.Array:
    """Standard deviation, of all the entries and not of a sample."""
    return sqrt_(jnp.var(x, axis=axis, keepdims=keepdims))


def abs_(x: Any) -> jax.Array:
    """Absolute value; its gradient at zero is 0, in JAX 1."""
    return x * jnp.sign(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.abs(x)


def maximum_(x: Any, y: Any) -> jax.Array:
    """The larger one; where both are equal, the gradient is the first one's, in JAX both halve it."""
    return jnp.where(jnp.greater_equal(x, y) | jnp.isnan(x), x, y)


def minimum_(x: Any, y: Any) -> jax.Array:
    """The smaller one; where both are equal, the gradient is the first one's, in JAX both halve it."""
    return jnp.where(jnp.less_equal(x, y) | jnp.isnan(x), x, y)


def add_n(inputs: Any, name: Any = None) -> jax.Array:
    """Adds arrays of one shape."""
    del name
    total, *rest = [convert_to_tensor(value) for value in inputs]
    for value in rest:
        total = total + value
    return total


def atan2(y: Any, x: Any, name: Any = None) -> jax.Array:
    """Angle of the point `(x, y)`, in radians."""
    del name
    return jnp.arctan2(*operands(y, x))


def divide_no_nan(x: Any, y: Any, name: Any = None) -> jax.Array:
    """Divides; zero where the divisor is zero."""
    del name
    x, y = operands(x, y)
    zero = jnp.equal(y, 0)
    return jnp.where(zero, 0, jnp.true_divide(x, jnp.where(zero, 1, y)))


def squared_difference_(x: Any, y: Any) -> jax.Array:
    """Square of the difference."""
    return jnp.square(jnp.subtract(x, y))


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: Any = None,
) -> jax.Array:
    """Multiplies matrices, of which the last two axes are rows and columns."""
    del name
    return jnp.matmul(
        _matrix(convert_to_tensor(a), transpose_a, adjoint_a),
        _matrix(convert_to_tensor(b), transpose_b, adjoint_b),
    )


def _matrix(x: jax.Array, transpose: bool, adjoint: bool) -> jax.Array:
    x = jnp.swapaxes(x, -1, -2) if transpose or adjoint else x
    return jnp.conj(x) if adjoint else x


def tensordot(a: Any, b: Any, axes: Any, name: Any = None) -> jax.Array:
    """Multiplies and sums over axes of both arrays."""
    del name
    axes = np.asarray(axes).tolist()
    return jnp.tensordot(convert_to_tensor(a), convert_to_tensor(b), axes)


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> jax.Array:
    """Sums over products of arrays, as Einstein wrote them."""
    del kwargs
    return jnp.einsum(equation, *map(convert_to_tensor, inputs))


def argmax(input: Any, axis: Any = None, output_type: Any = "int64", name: Any = None) -> jax.Array:
    """Finds the largest entries along an axis, which is 0 if it is not given (NumPy: all axes)."""
    del name
    return cast(jnp.argmax(convert_to_tensor(input), 0 if axis is None else int(axis)), output_type)


def argmin(input: Any, axis: Any = None, output_type: Any = "int64", name: Any = None) -> jax.Array:
    """Finds the smallest entries along an axis, which is 0 if it is not given (NumPy: all axes)."""
    del name
    return cast(jnp.argmin(convert_to_tensor(input), 0 if axis is None else int(axis)), output_type)


def cumsum(
    x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> jax.Array:
    """Sums up along an axis; `exclusive` leaves out the entry itself."""
    del name
    return _cumulative(jnp.cumsum, 0, x, axis, exclusive, reverse)


def _cumulative(
    function: Callable[..., Any], neutral: int, x: Any, axis: int, exclusive: bool, reverse: bool
) -> jax.Array:
    x = convert_to_tensor(x)
    x = jnp.flip(x, axis) if reverse else x
    if exclusive:
        # Not the difference to the sum: small numbers beside large ones would be lost.
        kept = jax.lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis)
        first = jnp.full_like(jax.lax.slice_in_dim(x, 0, 1, axis=axis), neutral)
        x = jnp.concatenate([first, kept], axis)
    total = function(x, axis, dtype=x.dtype)
    return jnp.flip(total, axis) if reverse else total


def cumprod(
    x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> jax.Array:
    """Multiplies up along an axis; `exclusive` leaves out the entry itself."""
    del name
    return _cumulative(jnp.cumprod, 1, x, axis, exclusive, reverse)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: Any = None) -> jax.Array:
    """Sorts along an axis."""
    del name
    return jnp.sort(convert_to_tensor(values), axis=axis, descending=_descending(direction))


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: Any = None,
) -> jax.Array:
    """Finds the order that sorts along an axis; it is stable always."""
    del name, stable
    order = jnp.argsort(convert_to_tensor(values), axis=axis, descending=_descending(direction))
    return order.astype(jnp.int32)


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f'direction must be "ASCENDING" or "DESCENDING", got {direction!r}.')
    return direction == "DESCENDING"


def top_k(
    input: Any, k: int = 1, sorted: bool = True, index_type: Any = "int32", name: Any = None
) -> TopK:
    """Finds the k largest entries of the last axis, in order."""
    del name, sorted
    values, indices = jax.lax.top_k(convert_to_tensor(input), int(k))
    return TopK(values, cast(indices, index_type))


def in_top_k(targets: Any, predictions: Any, k: int, name: Any = None) -> jax.Array:
    """Tells of each row whether fewer than k entries are larger than its target's, which is finite."""
    del name
    scores = convert_to_tensor(predictions)
    rows = convert_to_tensor(targets)
    mine = jnp.take_along_axis(scores, rows[:, None], axis=1)
    return (rows >= 0) & jnp.isfinite(mine[:, 0]) & (jnp.sum(scores > mine, axis=1) < k)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: int | None = None,
    weights: Any = None,
    dtype: Any = "int32",
    name: Any = None,
) -> jax.Array:
    """Counts predictions (columns) of labels (rows); in a program, `num_classes` must be given."""
    del name
    rows, columns = convert_to_tensor(labels).ravel(), convert_to_tensor(predictions).ravel()
    if num_classes is None:
        num_classes = int(jnp.maximum(rows.max(), columns.max())) + 1
    counts = jnp.zeros((int(num_classes), int(num_classes)), jax_dtype(dtype))
    each = 1 if weights is None else cast(convert_to_tensor(weights).ravel(), dtype)
    return counts.at[rows, columns].add(each)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: Any = None) -> jax.Array:
    """Limits every entry; at the limits, the gradient is that of the entry."""
    del name
    x = convert_to_tensor(t)
    low, high = (convert_to_tensor(limit, x.dtype) for limit in (clip_value_min, clip_value_max))
    x = jnp.where(x > high, high, x)
    return jnp.where(x < low, low, x)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: Any = None) -> jax.Array:
    """Scales an array down to a Euclidean norm, over all axes or over some."""
    del name
    x = convert_to_tensor(t)
    squares = jnp.sum(jnp.square(x), axis=static_axes(axes), keepdims=True)
    # The square root has no gradient at zero.
    norm = jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1)), squares)
    return x * clip_norm / jnp.maximum(norm, clip_norm)


def global_norm(t_list: Any, name: Any = None) -> jax.Array:
    """Euclidean norm of all arrays of a list together; None entries do not count."""
    del name
    squares = [jnp.sum(jnp.square(convert_to_tensor(t))) for t in t_list if t is not None]
    return jnp.sqrt(add_n(squares or [0.0]))


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: Any = None
) -> tuple[list[Any], jax.Array]:
    """Scales all arrays of a list by one factor; if their norm is not finite, to NaN.

    Returns:
        The scaled arrays, None where there was None, and the norm before.
    """
    del name
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    scale = clip_norm * jnp.minimum(1.0 / norm, 1.0 / jnp.asarray(clip_norm, norm.dtype))
    scale = jnp.where(jnp.isfinite(norm), scale, jnp.nan)
    scaled = [
        None if t is None else (convert_to_tensor(t) * scale).astype(convert_to_tensor(t).dtype)
        for t in t_list
    ]
    return scaled, norm


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = False, name: Any = None
) -> jax.Array:
    """Norm of a vector, of each along an axis, or of each matrix in two axes."""
    del name
    x, axes = convert_to_tensor(tensor), static_axes(axis)
    if ord in ("euclidean", "fro"):
        return euclidean_norm_(x, axes, bool(keepdims))
    if axes is None:
        result = jnp.linalg.norm(x.ravel(), ord)
        return result.reshape((1,) * x.ndim) if keepdims else result
    return jnp.linalg.norm(x, ord, axes, bool(keepdims))


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: Any = None) -> jax.Array:
    """Scales to a Euclidean norm of 1 along axes, or over all of them."""
    del name
    x = convert_to_tensor(x)
    squares = jnp.sum(jnp.square(x), axis=static_axes(axis), keepdims=True)
    return x * jax.lax.rsqrt(jnp.maximum(squares, epsilon))


def diag(diagonal: Any, name: Any = None) -> jax.Array:
    """Makes matrices of their diagonals, in the last axis."""
    del name
    entries = convert_to_tensor(diagonal)
    eye = jnp.eye(entries.shape[-1], dtype=bool)
    return jnp.where(eye, entries[..., None], jnp.zeros((), entries.dtype))


def diag_part(input: Any, name: Any = None) -> jax.Array:
    """Takes the diagonals of matrices, in the last two axes."""
    del name
    return jnp.diagonal(convert_to_tensor(input), axis1=-2, axis2=-1)


def trace_(x: jax.Array) -> jax.Array:
    """Sum of the diagonal, in the last two axes."""
    return jnp.trace(x, axis1=-2, axis2=-1)


def inv(input: Any, adjoint: bool = False, name: Any = None) -> jax.Array:
    """Inverts matrices."""
    del name
    return jnp.linalg.inv(_matrix(convert_to_tensor(input), False, adjoint))


def det(input: Any, name: Any = None) -> jax.Array:
    """Determinants of matrices."""
    del name
    return jnp.linalg.det(convert_to_tensor(input))


# In tf.* and in tf.math.
COMMON: dict[str, Any] = {
    "abs": unary(abs_),
    "acos": unary(jnp.arccos),
    "add": binary(jnp.add),
    "add_n": add_n,
    "argmax": argmax,
    "argmin": argmin,
    "asin": unary(jnp.arcsin),
    "atan": unary(jnp.arctan),
    "atan2": atan2,
    "ceil": unary(jnp.ceil),
    "cos": unary(jnp.cos),
    "cosh": unary(jnp.cosh),
    "cumsum": cumsum,
    "divide": binary(jnp.true_divide),
    "equal": binary(jnp.equal),
    "exp": unary(jnp.exp),
    "floor": unary(jnp.floor),
    "greater": binary(jnp.greater),
    "greater_equal": binary(jnp.greater_equal),
    "less": binary(jnp.less),
    "less_equal": binary(jnp.less_equal),
    "log": unary(jnp.log),  # TensorFlow 1 had tf.log, too
    "logical_and": binary(jnp.logical_and),
    "logical_not": unary(jnp.logical_not),
    "logical_or": binary(jnp.logical_or),
    "maximum": binary(maximum_),
    "minimum": binary(minimum_),
    "multiply": binary(jnp.multiply),
    "negative": unary(jnp.negative),
    "not_equal": binary(jnp.not_equal),
    "pow": binary(jnp.power),
    "reduce_all": reduction(jnp.all, of_bools=True),
    "reduce_any": reduction(jnp.any, of_bools=True),
    "reduce_logsumexp": reduction(jax.nn.logsumexp),
    "reduce_max": reduction(jnp.max),
    "reduce_mean": reduction(mean_),
    "reduce_min": reduction(jnp.min),
    "reduce_prod": reduction(prod_),
    "reduce_sum": reduction(sum_),
    "round": unary(jnp.round),  # half to even, both
    "sigmoid": unary(jax.nn.sigmoid),
    "sign": unary(jnp.sign),
    "sin": unary(jnp.sin),
    "sinh": unary(jnp.sinh),
    "sqrt": unary(sqrt_),
    "square": unary(jnp.square),
    "subtract": binary(jnp.subtract),
    "tan": unary(jnp.tan),
    "tanh": unary(jnp.tanh),
}

TF: dict[str, Any] = COMMON | {
    "argsort": argsort,
    "cast": cast,
    "clip_by_global_norm": clip_by_global_norm,
    "clip_by_norm": clip_by_norm,
    "clip_by_value": clip_by_value,
    "einsum": einsum,
    "matmul": matmul,
    "norm": norm,
    "sort": sort,
    "tensordot": tensordot,
}

MATH: dict[str, Any] = COMMON | {
    "confusion_matrix": confusion_matrix,
    "cumprod": cumprod,
    "divide_no_nan": divide_no_nan,
    "erf": unary(jax.scipy.special.erf),
    "expm1": unary(jnp.expm1),
    "floordiv": binary(jnp.floor_divide),
    "floormod": binary(jnp.mod),
    "in_top_k": in_top_k,
    "is_finite": unary(jnp.isfinite),
    "is_inf": unary(jnp.isinf),
    "is_nan": unary(jnp.isnan),
    "l2_normalize": l2_normalize,
    "log1p": unary(jnp.log1p),
    "log_sigmoid": unary(jax.nn.log_sigmoid),
    "logical_xor": binary(jnp.logical_xor),
    "mod": binary(jnp.mod),
    "multiply_no_nan": binary(lambda x, y: jnp.where(jnp.equal(y, 0), 0, jnp.multiply(x, y))),
    "reciprocal": unary(_masked_gradient(jnp.reciprocal)),
    "reduce_euclidean_norm": reduction(euclidean_norm_),
    "reduce_std": reduction(std_),
    "reduce_variance": reduction(jnp.var),
    "rsqrt": unary(_masked_gradient(jax.lax.rsqrt)),
    "softplus": activation(jax.nn.softplus),
    "squared_difference": binary(squared_difference_),
    "top_k": top_k,
}

LINALG: dict[str, Any] = {
    "det": det,
    "diag": diag,
    "diag_part": diag_part,
    "einsum": einsum,
    "global_norm": global_norm,
    "inv": inv,
    "l2_normalize": l2_normalize,
    "matmul": matmul,
    "norm": norm,
    "tensordot": tensordot,
    "trace": unary(trace_),
}
