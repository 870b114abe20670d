"""Functions of `tf` on selected arrays."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.array import reshape
from frontends.tf.ops.convert import convert_to_tensor, known, static_axes, static_int, static_shape
from frontends.tf.ops.math import cumprod, cumsum, sqrt_
from frontends.tf.selected.fitting import check_one_mask
from frontends.tf.selected.making import masked
from frontends.tf.selected.selected import Selected, marks_of, shown, traced
from frontends.tf.selected.selection import Marked, Selection, SelectionError, filled, unmarked
from frontends.tf.selected.sizes import SelectedShape, broadcast, shape_of

# What computes entry by entry, reduces without counting, or moves axes: no result depends on how many entries there are.
_TRACED = frozenset(
    {
        *("abs", "acos", "acosh", "add", "add_n", "asin", "asinh", "atan", "atan2", "atanh"),
        *("cast", "ceil", "clip_by_value", "cos", "cosh", "digamma", "divide", "divide_no_nan"),
        *("elu", "equal", "erf", "erfc", "exp", "expm1", "floor", "floordiv", "floormod", "gelu"),
        *("greater", "greater_equal", "identity", "is_finite", "is_inf", "is_nan", "leaky_relu"),
        *("less", "less_equal", "lgamma", "log", "log1p", "log_sigmoid", "logical_and"),
        *("logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply"),
        *("multiply_no_nan", "negative", "not_equal", "one_hot", "pow", "realdiv", "reciprocal"),
        *("reciprocal_no_nan", "relu", "relu6", "rint", "round", "rsqrt", "saturate_cast"),
        *("scalar_mul", "selu", "sigmoid", "sign", "silu", "sin", "sinh", "softplus", "softsign"),
        *("sqrt", "square", "squared_difference", "stop_gradient", "subtract", "swish", "tan"),
        *("tanh", "truediv", "where", "xdivy", "xlogy", "complex", "real", "imag", "angle", "conj"),
        *("sigmoid_cross_entropy_with_logits", "weighted_cross_entropy_with_logits"),
        *("softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits"),
        *("reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_min"),
        *("reduce_prod", "reduce_sum", "reduce_euclidean_norm", "norm", "l2_loss", "l2_normalize"),
        *("argmax", "argmin", "count_nonzero", "softmax", "log_softmax"),
        *("concat", "expand_dims", "gather", "gather_nd", "split", "squeeze", "stack"),
        *("transpose", "unstack", "tile", "matmul", "matvec", "tensordot", "einsum", "bias_add"),
    }
)


def on_selected(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Calls a function on selected arrays.

    Args:
        name: the last part of TensorFlow's name.
        function: what works on arrays.
        arguments: by name.

    Raises:
        SelectionError: the function needs to know how many entries there are.
    """
    given = {key: value for key, value in arguments.items() if key != "name"}
    own = _FUNCTIONS.get(name)
    if own is not None:
        return own(**given)
    if name not in _TRACED or any(isinstance(one, SelectedShape) for one in given.values()):
        raise SelectionError(f"tf.{name}")
    args: list[Any] = []
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args = [*map(given.pop, list(given)[: list(given).index(key)]), *given.pop(key)]
        elif parameter.kind is parameter.VAR_KEYWORD:
            given |= given.pop(key, {})
    return traced(f"tf.{name}", function, *args, **given)


def _marked(value: Any) -> Marked:
    return value.marked if isinstance(value, Selected) else unmarked(convert_to_tensor(value))


def _shape(input: Selected, out_type: Any = "int32") -> SelectedShape:
    check_one_mask("tf.shape", input.marked.marks)
    return shape_of(input.marked)


def _size(input: Selected, out_type: Any = "int32") -> jax.Array:
    check_one_mask("tf.size", input.marked.marks)
    return _count(input, range(input.ndim), jax_dtype(out_type))


def _rank(input: Selected) -> Any:
    return input.ndim


def _count(value: Selected, axes: Any, dtype: Any) -> jax.Array:
    """Counts the entries along axes."""
    total = jnp.ones((), dtype)
    for axis in axes:
        mark = value.marked.marks[axis]
        size = value.marked.array.shape[axis]
        total = total * (jnp.asarray(size, dtype) if mark is None else mark.count(dtype))
    return total


def _mean(input_tensor: Selected, axis: Any = None, keepdims: bool = False) -> Any:
    axes = static_axes(axis)
    dtype = input_tensor.marked.array.dtype
    whole = jnp.issubdtype(dtype, jnp.integer)
    wide = None if whole else jnp.promote_types(dtype, jnp.float32)  # None: 8 and 16 bits in 32
    add = functools.partial(jnp.sum, axis=axes, keepdims=bool(keepdims), dtype=wide)
    total = traced("tf.reduce_mean", add, input_tensor)
    rank = input_tensor.ndim
    numbers = range(rank) if axes is None else [axes] if isinstance(axes, int) else axes
    count = _count(input_tensor, [number % rank for number in numbers], total.dtype)

    def divided(x: jax.Array) -> jax.Array:
        if whole:
            return jax.lax.div(x, jnp.full_like(x, jnp.maximum(count, 1))).astype(dtype)
        return (x / count).astype(dtype)

    return traced("tf.reduce_mean", divided, total)


def _variance(input_tensor: Selected, axis: Any = None, keepdims: bool = False) -> Any:
    dtype = input_tensor.marked.array.dtype
    wide = jnp.promote_types(dtype, jnp.float32)
    values = traced("tf.math.reduce_variance", lambda x: x.astype(wide), input_tensor)
    distance = values - _mean(values, axis, keepdims=True)
    square = traced("tf.math.reduce_variance", lambda x: jnp.square(jnp.abs(x)), distance)
    narrow = jnp.finfo(dtype).dtype if jnp.issubdtype(dtype, jnp.inexact) else wide
    return traced(
        "tf.math.reduce_variance", lambda x: x.astype(narrow), _mean(square, axis, keepdims)
    )


def _deviation(input_tensor: Selected, axis: Any = None, keepdims: bool = False) -> Any:
    found = _variance(input_tensor, axis, keepdims)
    return (
        traced("tf.math.reduce_std", sqrt_, found) if isinstance(found, Selected) else sqrt_(found)
    )


def _like(value: float, input: Any, dtype: Any = None, **_: Any) -> Selected:
    of = _marked(input)
    kind = of.array.dtype if dtype is None else jax_dtype(dtype)
    return Selected(of._replace(array=jnp.full_like(of.array, value, dtype=kind)))


def _full(shape: SelectedShape, value: Any, dtype: Any = None) -> Any:
    made = jnp.asarray(value, None if dtype is None else jax_dtype(dtype))
    return shown(broadcast(unmarked(made), shape))


def _fill(dims: SelectedShape, value: Any, **_: Any) -> Any:
    return _full(dims, convert_to_tensor(value))


def _zeros(shape: SelectedShape, dtype: Any = "float32", **_: Any) -> Any:
    return _full(shape, 0, dtype)


def _ones(shape: SelectedShape, dtype: Any = "float32", **_: Any) -> Any:
    return _full(shape, 1, dtype)


def _broadcast_to(input: Any, shape: Any) -> Any:
    if isinstance(shape, SelectedShape):
        return shown(broadcast(_marked(input), shape))
    return traced("tf.broadcast_to", lambda x: jnp.broadcast_to(x, shape), input)


def _cumulative(
    function: Callable[..., jax.Array],
    neutral: int,
    x: Selected,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
) -> Selected:
    found = function(filled(x.marked, neutral), static_int(axis), bool(exclusive), bool(reverse))
    return Selected(x.marked._replace(array=found))


def _reshape(tensor: Selected, shape: Any) -> Any:
    """Reshapes; the size that nobody knows is that of -1."""
    if any(isinstance(size, Tracer) for size in jax.tree.leaves(known(shape))):
        raise SelectionError("tf.reshape, to a size that is not known (write -1 for it),")
    sizes = static_shape(shape)
    found = traced("tf.reshape", lambda x: reshape(x, sizes), tensor)
    for size, mark in zip(sizes, marks_of(found), strict=True):
        if mark is not None and size != -1:
            raise SelectionError(f"tf.reshape, where an axis gets the size {size} instead of -1,")
    return found


def _boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Any:
    """Takes fewer of the entries that another mask took."""
    at = 0 if axis is None else static_int(axis) % jnp.ndim(_marked(tensor).array)
    if not isinstance(mask, Selected):
        raise SelectionError("tf.boolean_mask, with a mask that was not taken likewise,")
    chosen = mask.marked
    if chosen.array.ndim != 1:
        raise SelectionError("tf.boolean_mask, with a mask of several dimensions,")
    (own,), value = chosen.marks, _marked(tensor)
    mark = value.marks[at]
    if own is None or mark is None or not mark.same(own):
        raise SelectionError("tf.boolean_mask, with a mask of other entries,")
    both = own.valid & chosen.array.astype(bool)
    found = masked(value.array, both, at).marked
    fewer = Marked(found.array, marks_of(tensor))
    return Selected(fewer.with_mark(at, Selection(both, chosen.array, own.unfit)))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "boolean_mask": _boolean_mask,
    "broadcast_to": _broadcast_to,
    "cumprod": functools.partial(_cumulative, cumprod, 1),
    "cumsum": functools.partial(_cumulative, cumsum, 0),
    "fill": _fill,
    "ones": _ones,
    "ones_like": functools.partial(_like, 1),
    "rank": _rank,
    "reduce_mean": _mean,
    "reduce_std": _deviation,
    "reduce_variance": _variance,
    "reshape": _reshape,
    "shape": _shape,
    "size": _size,
    "zeros": _zeros,
    "zeros_like": functools.partial(_like, 0),
}
