"""What functions of `tf` do in a map function that runs on elements: NumPy computes, and JAX is not asked.

An element is small, and a dispatch of JAX takes longer than the work; elements of many shapes would compile a program for
each. Where NumPy would give another result than JAX, or raises an error, the function of arrays is called: types that
differ, arrays that a program computes, texts, and arguments that are seldom used.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.dtypes import as_dtype
from spmd import _jax_internals


class _FallBackError(Exception):
    """NumPy is not to compute this."""


def on_elements(functions: Mapping[str, Any]) -> dict[str, Any]:
    """Has functions compute with NumPy in a map function that runs on elements.

    Args:
        functions: by the last part of TensorFlow's name.

    Examples:
        >>> import jax.numpy as jnp
        >>> from frontends.tf.data.tracing import map_on_host
        >>> add = on_elements({"add": jnp.add})["add"]
        >>> with map_on_host(traced=False):
        ...     isinstance(add(np.ones(2), 1.0), np.ndarray)
        True
    """
    return {
        name: _on_elements(one, _FUNCTIONS[name]) if name in _FUNCTIONS and callable(one) else one
        for name, one in functions.items()
    }


@functools.cache  # `tf.add` is `tf.math.add`
def _on_elements(function: Callable[..., Any], compute: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not in_map_on_host() or _jax_internals.is_interposed():
            return function(*args, **kwargs)
        kwargs.pop("name", None)
        try:
            with np.errstate(all="ignore"):
                found = compute(*args, **kwargs)
        except (_FallBackError, ValueError, TypeError, IndexError, OverflowError):
            return function(*args, **kwargs)
        return as_tensors(found) if type(found) is not list else list(map(as_tensors, found))

    return call


def array_on_host(value: Any) -> np.ndarray:
    """Returns numbers in host memory.

    Raises:
        Exception: it is something else, or only a program knows the numbers.
    """
    if isinstance(value, np.ndarray):
        array = value.view(np.ndarray)
    elif isinstance(value, np.generic) or (
        isinstance(value, jax.Array) and not isinstance(value, Tracer)
    ):
        array = np.asarray(value)
    else:
        raise _FallBackError
    if array.dtype.kind not in "biuf":
        raise _FallBackError
    return array


def _operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Takes two arrays of one type, or an array and a number of Python's that its type holds."""
    if isinstance(y, bool | int | float):
        first = array_on_host(x)
        return first, _weak(y, first)
    if isinstance(x, bool | int | float):
        second = array_on_host(y)
        return _weak(x, second), second
    first, second = array_on_host(x), array_on_host(y)
    if first.dtype != second.dtype:
        raise _FallBackError
    return first, second


def _weak(number: Any, array: np.ndarray) -> Any:
    if isinstance(number, float) and array.dtype.kind != "f":
        raise _FallBackError
    if isinstance(number, int) and array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        if not limits.min <= number <= limits.max:
            raise _FallBackError
    return number


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: function(*_operands(x, y))


def _unary(function: Callable[..., Any], kinds: str = "f") -> Callable[..., Any]:
    def compute(x: Any) -> Any:
        array = array_on_host(x)
        if array.dtype.kind not in kinds:
            raise _FallBackError
        return function(array)

    return compute


def _divide(x: Any, y: Any) -> Any:
    first, second = _operands(x, y)
    array = first if isinstance(first, np.ndarray) else second
    if array.dtype.kind != "f":
        raise _FallBackError
    return np.true_divide(first, second)


def _reduction(function: Callable[..., Any], kinds: str = "iuf") -> Callable[..., Any]:
    def compute(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        array = array_on_host(input_tensor)
        if array.dtype.kind not in kinds or not array.size:
            raise _FallBackError
        axes = axis if axis is None or isinstance(axis, int) else _sizes(axis)
        return function(array, axes, bool(keepdims))

    return compute


def _sizes(value: Any) -> tuple[int, ...]:
    """Takes sizes, axes or counts."""
    if isinstance(value, int):
        return (value,)
    if isinstance(value, list | tuple):
        return tuple([int(one) for one in value])
    return tuple(array_on_host(value).reshape(-1).tolist())


def _of_type(array: np.ndarray, dtype: Any) -> np.ndarray:
    return array if dtype is None else array.astype(_dtype(dtype))


def _dtype(dtype: Any) -> np.dtype:
    found = as_dtype(dtype)
    if found.name == "string":
        raise _FallBackError
    return found.dtype


def _joined(join: Callable[..., Any], values: Any, axis: Any) -> Any:
    if not isinstance(values, list | tuple) or not values:
        raise _FallBackError
    arrays = list(map(array_on_host, values))
    if any(array.dtype != arrays[0].dtype for array in arrays):
        raise _FallBackError
    return join(arrays, axis=int(axis))


def _unstack(value: Any, num: int | None = None, axis: int = 0) -> list[Any]:
    array = np.moveaxis(array_on_host(value), int(axis), 0)
    if num is not None and num != len(array):
        raise _FallBackError
    return list(array)


def _split(value: Any, num_or_size_splits: Any, axis: int = 0, num: Any = None) -> list[Any]:
    if not isinstance(num_or_size_splits, int):
        raise _FallBackError
    return list(np.split(array_on_host(value), num_or_size_splits, int(axis)))


def _pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Any:
    array = array_on_host(tensor)
    widths = np.asarray(paddings)
    if mode.upper() != "CONSTANT" or widths.shape != (array.ndim, 2):
        raise _FallBackError
    return np.pad(array, widths, constant_values=_weak(constant_values, array))


def _slice(input_: Any, begin: Any, size: Any) -> Any:
    array, first, count = array_on_host(input_), _sizes(begin), _sizes(size)
    if not len(first) == len(count) == array.ndim:
        raise _FallBackError
    ends = [
        length if number == -1 else start + number
        for start, number, length in zip(first, count, array.shape, strict=True)
    ]
    if any(
        not 0 <= start <= end <= length
        for start, end, length in zip(first, ends, array.shape, strict=True)
    ):
        raise _FallBackError
    return array[tuple(map(slice, first, ends))]


def _gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0
) -> Any:
    array, at = array_on_host(params), int(axis or 0)
    places = np.asarray(indices) if isinstance(indices, int | list) else array_on_host(indices)
    if batch_dims or places.dtype.kind not in "iu" or not places.size:
        raise _FallBackError
    if places.min() < 0 or places.max() >= array.shape[at]:
        raise _FallBackError
    return array.take(places, at)


def _where(condition: Any, x: Any, y: Any) -> Any:
    chosen = array_on_host(condition)
    if chosen.dtype.kind != "b":
        raise _FallBackError
    return np.where(chosen, *_operands(x, y))


def _clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    array, low = _operands(t, clip_value_min)
    _, high = _operands(t, clip_value_max)
    if array.dtype.kind != "f":
        raise _FallBackError
    return np.clip(array, low, high, dtype=array.dtype)


def _one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
) -> Any:
    array = array_on_host(indices)
    if array.dtype.kind not in "iu" or on_value is not None or off_value is not None:
        raise _FallBackError
    if axis not in (None, -1):
        raise _FallBackError
    hot = array[..., None] == np.arange(int(depth))
    return hot.astype(_dtype("float32" if dtype is None else dtype))


def _range_of(array: np.ndarray, found: Any, output_type: Any) -> Any:
    if array.dtype.kind not in "iuf":
        raise _FallBackError
    return found.astype(_dtype(output_type))


def _position(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
        array = array_on_host(input)
        return _range_of(array, function(array, int(axis or 0)), output_type)

    return compute


def _convert(value: Any, dtype: Any = None, dtype_hint: Any = None) -> Any:
    array = array_on_host(value)
    if dtype is not None and _dtype(dtype) != array.dtype:
        raise _FallBackError
    return array


def _ensured(x: Any, shape: Any) -> Any:
    array = array_on_host(x)
    if shape is None or len(shape) != array.ndim:
        raise _FallBackError
    if any(size not in (None, actual) for size, actual in zip(shape, array.shape, strict=True)):
        raise _FallBackError
    return array


def _axes(axis: Any) -> tuple[int, ...] | None:
    return None if axis is None else _sizes(axis) or None


def _numbers(value: Any, dtype: Any) -> Any:
    return np.asarray(value, _dtype(dtype))


def _filled(shape: Any, value: Any, dtype: Any) -> Any:
    return np.full(_sizes(shape), value, _dtype(dtype))


def _tiled(input: Any, multiples: Any) -> Any:
    array, times = array_on_host(input), _sizes(multiples)
    if len(times) != array.ndim:
        raise _FallBackError
    return np.tile(array, times)


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(*operands: Any) -> Any:
        arrays = list(map(array_on_host, operands))
        if any(array.dtype.kind != "b" for array in arrays):
            raise _FallBackError
        return function(*arrays)

    return compute


def _transposed(a: Any, perm: Any = None, conjugate: bool = False) -> Any:
    return array_on_host(a).transpose(None if perm is None else _sizes(perm))


def _reversed(tensor: Any, axis: Sequence[int]) -> Any:
    return np.flip(array_on_host(tensor), _sizes(axis))


# By the last part of TensorFlow's name, with TensorFlow's parameters.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": _unary(np.abs, "if"),
    "add": _binary(np.add),
    "argmax": _position(np.argmax),
    "argmin": _position(np.argmin),
    "ceil": _unary(np.ceil),
    "clip_by_value": _clip_by_value,
    "concat": lambda values, axis: _joined(np.concatenate, values, axis),
    "convert_to_tensor": _convert,
    "cos": _unary(np.cos),
    "divide": _divide,
    "ensure_shape": _ensured,
    "equal": _binary(np.equal),
    "exp": _unary(np.exp),
    "expand_dims": lambda input, axis: np.expand_dims(array_on_host(input), int(axis)),
    "floor": _unary(np.floor),
    "floordiv": _binary(np.floor_divide),
    "floormod": _binary(np.mod),
    "gather": _gather,
    "greater": _binary(np.greater),
    "greater_equal": _binary(np.greater_equal),
    "identity": lambda input: array_on_host(input),
    "less": _binary(np.less),
    "less_equal": _binary(np.less_equal),
    "log": _unary(np.log),
    "log1p": _unary(np.log1p),
    "logical_and": _logical(np.logical_and),
    "logical_not": _logical(np.logical_not),
    "logical_or": _logical(np.logical_or),
    "maximum": _binary(np.maximum),
    "minimum": _binary(np.minimum),
    "mod": _binary(np.mod),
    "multiply": _binary(np.multiply),
    "negative": _unary(np.negative, "if"),
    "not_equal": _binary(np.not_equal),
    "one_hot": _one_hot,
    "ones": lambda shape, dtype="float32": _filled(shape, 1, dtype),
    "ones_like": lambda input, dtype=None: np.ones_like(_of_type(array_on_host(input), dtype)),
    "pad": _pad,
    "pow": _binary(np.power),
    "rank": lambda input: np.int32(array_on_host(input).ndim),
    "reduce_all": _reduction(lambda x, axis, keep: np.all(x, axis, keepdims=keep), "b"),
    "reduce_any": _reduction(lambda x, axis, keep: np.any(x, axis, keepdims=keep), "b"),
    "reduce_max": _reduction(lambda x, axis, keep: np.max(x, axis, keepdims=keep)),
    "reduce_mean": _reduction(lambda x, axis, keep: np.mean(x, axis, keepdims=keep), "f"),
    "reduce_min": _reduction(lambda x, axis, keep: np.min(x, axis, keepdims=keep)),
    "reduce_prod": _reduction(lambda x, axis, keep: np.prod(x, axis, x.dtype, keepdims=keep)),
    "reduce_std": _reduction(lambda x, axis, keep: np.std(x, axis, keepdims=keep), "f"),
    "reduce_sum": _reduction(lambda x, axis, keep: np.sum(x, axis, x.dtype, keepdims=keep)),
    "reduce_variance": _reduction(lambda x, axis, keep: np.var(x, axis, keepdims=keep), "f"),
    "reshape": lambda tensor, shape: array_on_host(tensor).reshape(_sizes(shape)),
    "reverse": _reversed,
    "roll": lambda input, shift, axis: np.roll(array_on_host(input), _sizes(shift), _sizes(axis)),
    "round": _unary(np.round),
    "shape": lambda input, out_type="int32": _numbers(array_on_host(input).shape, out_type),
    "sign": _unary(np.sign, "if"),
    "sin": _unary(np.sin),
    "size": lambda input, out_type="int32": _numbers(array_on_host(input).size, out_type),
    "slice": _slice,
    "split": _split,
    "sqrt": _unary(np.sqrt),
    "square": _unary(np.square, "if"),
    "squeeze": lambda input, axis=None: np.squeeze(array_on_host(input), _axes(axis)),
    "stack": lambda values, axis=0: _joined(np.stack, values, axis),
    "stop_gradient": lambda input: array_on_host(input),
    "subtract": _binary(np.subtract),
    "tanh": _unary(np.tanh),
    "tile": _tiled,
    "transpose": _transposed,
    "truediv": _divide,
    "unstack": _unstack,
    "where": _where,
    "zeros": lambda shape, dtype="float32": _filled(shape, 0, dtype),
    "zeros_like": lambda input, dtype=None: np.zeros_like(_of_type(array_on_host(input), dtype)),
}
