"""Functions of `tf` that only move entries, on arrays of texts, which JAX refuses: NumPy's do it, on the host."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from jax.core import Tracer

from frontends.tf._shaped_texts import ShapedTexts
from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import host_array, shown
from frontends.tf.dtypes import as_dtype


def _concat(values: HostLike, axis: HostLike) -> Any:
    given = values if isinstance(values, list | tuple) else [values]
    return np.concatenate([_array(one) for one in given], int(axis))


def _stack(values: HostLike, axis: HostLike = 0) -> Any:
    return np.stack([_array(one) for one in values], int(axis))


def _unstack(value: HostLike, num: Any = None, axis: HostLike = 0) -> Any:
    return [shown(row) for row in np.moveaxis(_array(value), int(axis), 0)]


def _split(value: HostLike, num_or_size_splits: Any, axis: HostLike = 0, num: Any = None) -> Any:
    sizes = np.asarray(num_or_size_splits)
    at = int(sizes) if not sizes.ndim else np.cumsum(sizes)[:-1]
    return [shown(part) for part in np.split(_array(value), at, int(axis))]


def _gather(
    params: HostLike,
    indices: HostLike,
    validate_indices: Any = None,
    axis: HostLike = None,
    batch_dims: int = 0,
) -> Any:
    if batch_dims:
        raise ValueError("tf.gather of texts: batch_dims must be 0.")
    if isinstance(indices, Tracer) and _array(params).ndim == 1:
        # The program chooses them by their numbers, such as names of classes.
        from frontends.tf.feature_column.class_names import ClassNames

        names = [os.fsdecode(one) for one in _array(params).tolist()]
        return ClassNames(indices, names)
    try:
        return np.take(_array(params), np.asarray(indices), int(axis or 0))
    except IndexError as error:
        raise ValueError(f"tf.gather: {error}") from None


def _boolean_mask(tensor: HostLike, mask: HostLike, axis: HostLike = None) -> Any:
    array = _array(tensor)
    before = (slice(None),) * (int(axis or 0) % max(array.ndim, 1))
    return array[(*before, np.asarray(mask, bool))]


def _slice(input_: Any, begin: Any, size: Any) -> Any:
    array = _array(input_)
    first, count = (np.asarray(one).reshape(-1) for one in (begin, size))
    if not len(first) == len(count) == array.ndim:
        raise ValueError(
            f"tf.slice: expected begin and size for each of {array.ndim} dimensions, got {first.tolist()} and "
            f"{count.tolist()}."
        )
    count = np.where(count == -1, array.shape - first, count)
    if ((first < 0) | (count < 0) | (first + count > array.shape)).any():
        raise ValueError(
            f"tf.slice: the block from {first.tolist()} of size {count.tolist()} is not in an array of shape {array.shape}."
        )
    return array[tuple(map(slice, first, first + count))]


def _cast(x: HostLike, dtype: Any) -> Any:
    if as_dtype(dtype).name != "string":
        raise ValueError(
            f"tf.cast: cannot cast text to {as_dtype(dtype).name}.\nFix: tf.strings.to_number(x, {as_dtype(dtype)!r})"
        )
    return _array(x)


def _squeeze(input: HostLike, axis: HostLike = None) -> Any:
    return np.squeeze(_array(input), None if axis is None else tuple(np.atleast_1d(axis).tolist()))


# By the last part of TensorFlow's name.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "boolean_mask": _boolean_mask,
    "broadcast_to": lambda input, shape: np.broadcast_to(_array(input), np.asarray(shape)),
    "cast": _cast,
    "concat": _concat,
    "expand_dims": lambda input, axis: np.expand_dims(_array(input), int(axis)),
    "fill": lambda dims, value: np.broadcast_to(_array(value), np.asarray(dims)).copy(),
    "gather": _gather,
    "identity": lambda input: _array(input),
    "repeat": lambda input, repeats, axis=None: np.repeat(_array(input), repeats, axis),
    "reshape": lambda tensor, shape: _array(tensor).reshape(np.asarray(shape)),
    "reverse": lambda tensor, axis: np.flip(_array(tensor), tuple(np.atleast_1d(axis).tolist())),
    "slice": _slice,
    "split": _split,
    "squeeze": _squeeze,
    "stack": _stack,
    "stop_gradient": lambda input: _array(input),
    "tile": lambda input, multiples: np.tile(_array(input), np.asarray(multiples)),
    "transpose": lambda a, perm=None, conjugate=False: np.transpose(_array(a), perm),
    "unstack": _unstack,
    "where": lambda condition, x, y: np.where(np.asarray(condition), _array(x), _array(y)),
    "zeros_like": lambda input, dtype=None: np.full(np.shape(_array(input)), b"", object),
}


def on_texts(name: str, arguments: dict[str, Any]) -> Any:
    """Calls a function on texts.

    Args:
        name: the last part of TensorFlow's name.
        arguments: by name.

    Returns:
        The result, an array in host memory; NotImplemented for functions that do not only move entries.
    """
    function = _FUNCTIONS.get(name)
    if function is None:
        return NotImplemented
    given = {key: value for key, value in arguments.items() if key != "name"}
    found = function(**given)
    return found if isinstance(found, list | ShapedTexts) else shown(found)


def holds_text(value: HostLike) -> bool:
    """Tells whether a value is a text, an array of texts, or a list with one."""
    if isinstance(value, str | bytes):
        return True
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "OSU"
    return isinstance(value, list | tuple) and any(map(holds_text, value))


def _array(value: HostLike) -> np.ndarray:
    return host_array(value, "a function of texts")
