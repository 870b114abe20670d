"""Functions of `tf` on ragged tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import host_array, integers, shown
from frontends.tf.ragged import partitions
from frontends.tf.ragged.operators import binary, broadcast, check_same_rows
from frontends.tf.ragged.ops import boolean_mask, concat, expand_dims, map_flat_values, stack
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.ragged.reductions import mean, reduced, rows_by, variance

# Of two arrays, entry by entry.
_BINARY = frozenset(
    {
        *("add", "subtract", "multiply", "divide", "truediv", "floordiv", "floormod", "mod", "pow"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum"),
        *("minimum", "logical_and", "logical_or", "logical_xor", "squared_difference"),
        *("divide_no_nan", "multiply_no_nan", "atan2", "xlogy", "xdivy"),
    }
)
# Of each entry.
_EACH = frozenset(
    {
        *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cast", "ceil", "cos", "cosh"),
        *("clip_by_value", "elu", "erf", "erfc", "exp", "expm1", "floor", "gelu", "identity"),
        *("is_finite", "is_inf", "is_nan", "lgamma", "log", "log1p", "log_sigmoid", "logical_not"),
        *("negative", "one_hot", "ones_like", "reciprocal", "relu", "relu6", "round", "rsqrt"),
        *("selu", "sigmoid", "sign", "silu", "sin", "sinh", "softplus", "softsign", "sqrt"),
        *("square", "stop_gradient", "swish", "tan", "tanh", "zeros_like", "dropout", "leaky_relu"),
    }
)


def on_ragged(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Calls a function on ragged tensors.

    Args:
        name: the last part of TensorFlow's name.
        function: what works on arrays.
        arguments: by name.

    Returns:
        The result; NotImplemented for functions that are none of ragged tensors.
    """
    given = {key: value for key, value in arguments.items() if key != "name"}
    if name in _BINARY:
        first, second = list(given.values())[:2]
        return binary(function, first, second)
    if name in _EACH:
        return map_flat_values(function, **given)
    if name in ("reduce_mean", "reduce_variance", "reduce_std"):
        return _moment(name, function, **given)
    of_rows = rows_by(name)
    if of_rows is not None:
        return reduced(
            given["input_tensor"],
            given.get("axis"),
            bool(given.get("keepdims", False)),
            of_rows,
            lambda values, axis: function(values, axis),
        )
    made = _FUNCTIONS.get(name)
    return NotImplemented if made is None else made(function, **given)


def _moment(
    name: str,
    function: Callable[..., Any],
    input_tensor: RaggedTensor,
    axis: HostLike = None,
    keepdims: bool = False,
) -> Any:
    if name == "reduce_mean" or axis is None:
        return mean(input_tensor, axis, bool(keepdims), function)
    found = variance(input_tensor, axis, bool(keepdims), function)
    return found if name == "reduce_variance" else found**0.5


def _gather(
    function: Callable[..., Any],
    params: HostLike,
    indices: HostLike,
    validate_indices: Any = None,
    axis: HostLike = None,
    batch_dims: int = 0,
) -> Any:
    if batch_dims:
        if int(batch_dims) != 1 or axis not in (None, 1):
            raise ValueError("tf.gather of ragged tensors: batch_dims must be 0, or 1 with axis 1.")
        rows = params if isinstance(params, RaggedTensor) else RaggedTensor.from_tensor(params)
        wanted = indices if isinstance(indices, RaggedTensor) else RaggedTensor.from_tensor(indices)
        places = np.asarray(wanted.flat_values)
        number = partitions.rows_of(wanted.lengths)
        _check_indices(places, rows.lengths[number])
        return wanted.with_flat_values(_taken(rows._values, rows._splits[:-1][number] + places))
    at = 0 if axis is None else int(axis)
    if at and isinstance(params, RaggedTensor):
        at = _axis(at, params.ndim, "tf.gather")
    if at:
        if not isinstance(params, RaggedTensor) or at <= params.ragged_rank:
            raise ValueError(
                f"tf.gather of ragged tensors: axis must be 0, or that of a dense dimension, got {axis}."
            )
        inner = at - params.ragged_rank
        return params.with_flat_values(function(params.flat_values, indices, axis=inner))
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(_gather(function, params, indices.flat_values))
    if not isinstance(params, RaggedTensor):
        return function(params, indices)
    places = integers(indices, "tf.gather: indices")
    _check_indices(places, np.full(places.shape, params.row_count))
    if not places.ndim:
        return params[int(places)]
    found = params.take(places.reshape(-1))
    for axis_ in range(places.ndim - 1, 0, -1):
        outer = int(np.prod(places.shape[:axis_]))
        found = RaggedTensor.from_uniform_row_length(found, places.shape[axis_], outer)
    return found


def _axis(axis: int, rank: int, op_name: str) -> int:
    if not -rank <= axis < rank:
        raise ValueError(
            f"{op_name}: axis={axis} out of bounds: expected {-rank}<=axis<{rank} for a ragged tensor of {rank} dimensions."
        )
    return axis % rank


def _check_indices(places: np.ndarray, sizes: np.ndarray) -> None:
    wrong = (places < 0) | (places >= sizes)
    if wrong.any():
        at = int(np.flatnonzero(wrong.reshape(-1))[0])
        raise ValueError(
            f"tf.gather: indices[{at}] = {places.reshape(-1)[at]} is not in [0, {sizes.reshape(-1)[at]}). Write tf.where to "
            "put another index in its place, or tf.ragged.boolean_mask to leave it out."
        )


def _taken(values: HostLike, places: np.ndarray) -> Any:
    return values.take(places) if isinstance(values, RaggedTensor) else values[places]


def _reverse(function: Callable[..., Any], tensor: RaggedTensor, axis: HostLike) -> Any:
    found = tensor
    for one in np.atleast_1d(axis).tolist():
        at = _axis(one, tensor.ndim, "tf.reverse")
        found = found[(*[slice(None)] * at, slice(None, None, -1))]
    return found


def _tile(function: Callable[..., Any], input: RaggedTensor, multiples: HostLike) -> Any:
    times = integers(multiples, "tf.tile: multiples").tolist()
    if len(times) != input.ndim:
        raise ValueError(
            f"tf.tile: expected multiples for each of {input.ndim} dimensions, got {len(times)}."
        )
    found: Any = input
    for axis, count in reversed(list(enumerate(times))):
        if count != 1:
            found = (
                concat([found] * count, axis)
                if count
                else found[(*[slice(None)] * axis, slice(0, 0))]
            )
    return found


def _where(
    function: Callable[..., Any], condition: HostLike, x: HostLike = None, y: HostLike = None
) -> Any:
    if x is None:
        where = partitions.coordinates([np.diff(splits) for splits in condition.nested_row_splits])
        return shown(where[np.asarray(condition.flat_values).astype(bool)])
    among = [one for one in (condition, x, y) if isinstance(one, RaggedTensor)]
    check_same_rows(among)
    ragged = among[0]
    parts = [
        one.flat_values if isinstance(one, RaggedTensor) else broadcast(one, ragged)
        for one in (condition, x, y)
    ]
    return ragged.with_flat_values(function(*parts))


def _embedded(
    function: Callable[..., Any], params: HostLike, ids: RaggedTensor, **kwargs: Any
) -> Any:
    return ids.with_flat_values(function(params, ids.flat_values, **kwargs))


def _squeeze(function: Callable[..., Any], input: RaggedTensor, axis: HostLike = None) -> Any:
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    found: Any = input
    axes = (_axis(int(a), input.ndim, "tf.squeeze") for a in np.atleast_1d(axis))
    for one in sorted(axes, reverse=True):
        if not isinstance(found, RaggedTensor):
            found = np.squeeze(found, one)
        elif one == 0:
            if found.row_count != 1:
                raise ValueError(f"Can not squeeze dimension 0: it has {found.row_count} rows.")
            found = found.row(0)
        elif one == 1:
            if (found.lengths != 1).any():
                raise ValueError(
                    "Can not squeeze dimension 1: there are rows of another length than 1."
                )
            found = found._values
        else:
            found = found.with_values(
                _squeeze(function, found._values, one - 1)
                if isinstance(found._values, RaggedTensor)
                else np.squeeze(found._values, one - 1)
            )
    return found if isinstance(found, RaggedTensor) else shown(found)


def _boolean_mask(
    function: Callable[..., Any], tensor: HostLike, mask: HostLike, axis: HostLike = None
) -> Any:
    if axis is not None and int(axis) != 0:
        raise ValueError(
            f"tf.boolean_mask of ragged tensors: axis must be 0, got {axis}.\n"
            "Fix: tf.ragged.boolean_mask(tensor, mask), with a mask for the dimensions from the first one on"
        )
    return boolean_mask(tensor, mask)


# By the last part of TensorFlow's name; each gets the function of arrays first.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "boolean_mask": _boolean_mask,
    "concat": lambda _, values, axis: concat(
        values if isinstance(values, list | tuple) else [values], int(axis)
    ),
    "embedding_lookup": _embedded,
    "expand_dims": lambda _, input, axis: expand_dims(input, int(axis)),
    "gather": _gather,
    "rank": lambda _, input: shown(np.int32(input.ndim)),
    "reverse": _reverse,
    "size": lambda _, input, out_type="int32": shown(
        host_array(np.size(input.flat_values), "size", out_type)
    ),
    "squeeze": _squeeze,
    "stack": lambda _, values, axis=0: stack(values, int(axis)),
    "tile": _tile,
    "where": _where,
}
