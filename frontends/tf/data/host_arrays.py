"""What functions of the host take: NumPy's arrays, with texts as bytes and Python's numbers in 32 bits."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, Nested, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.data.tracing import run_as_python
from frontends.tf.dtypes import as_dtype

_NARROW = {np.dtype(np.int64): np.int32, np.dtype(np.float64): np.float32}


def host_array(value: TensorLike, what: str, dtype: DTypeLike = None) -> np.ndarray:
    """Makes an array in host memory.

    Args:
        value: an array, a number, a text, or nested lists of them.
        what: the function and its argument, for the errors.
        dtype: of the result; None leaves it to the value.

    Returns:
        An array; texts are bytes, in an array of objects.

    Raises:
        ShapeUnknownDuringTrace: a `tf.function` is being traced; it runs as Python.
        ValueError: the value is known only to a running program, or is no array.
    """
    if dtype is None and isinstance(value, bytes | str):
        return np.array(as_text(value), object)
    check_on_host(value, what)
    is_array = isinstance(value, np.ndarray | np.generic) or hasattr(value, "__jax_array__")
    is_array = is_array or isinstance(value, jax.Array)
    if isinstance(value, str | bytes):
        array = np.array(value if isinstance(value, str) else bytes(value), object)
    else:
        array = np.asarray(getattr(value, "__jax_array__", lambda: value)())
        if array.dtype.kind in "SU" and not is_array:
            # NumPy makes texts of numbers that are beside texts, and its own lose their last zeros.
            array = np.asarray(value, object)
    if array.dtype.kind in "OSU":
        array = _as_bytes(array, what)
        if dtype is not None and as_dtype(dtype).name != "string" and array.size:
            raise ValueError(f"{what} must be {as_dtype(dtype).name}, got text.")
        return array if dtype is None or array.size else array.astype(_numpy_dtype(dtype))
    if dtype is not None:
        kind = _numpy_dtype(dtype)
        if kind.kind == "O" and array.size:
            raise ValueError(f"{what} must be text, got {array.dtype}.")
        return array.astype(kind)
    if is_array:
        return array
    narrow = _NARROW.get(array.dtype)
    if narrow is None or (array.dtype.kind == "i" and _is_large(array)):
        return array
    return array.astype(narrow)


def text_array(value: TensorLike, what: str) -> np.ndarray:
    """Makes an array of texts, as bytes.

    Args:
        value: a text, or an array or nested lists of texts; an empty list is fine.
        what: the function and its argument, for the error.

    Raises:
        TypeError: it is something else.
        ValueError: as of `host_array`.
    """
    array = host_array(value, what)
    if array.dtype.kind == "O":
        return array
    if not array.size and isinstance(value, list | tuple):
        return array.astype(object)
    raise TypeError(f"{what} must be text (bytes or str, or an array of them), got {array.dtype}.")


def single_text(value: TensorLike, what: str) -> bytes:
    """Returns a text, as bytes.

    Raises:
        TypeError: it is no text.
        ValueError: there are several; or as of `host_array`.
    """
    if isinstance(value, bytes | str):
        return as_text(value)
    array = text_array(value, what)
    if array.ndim:
        raise ValueError(f"{what} must be scalar, but received shape: {list(array.shape)}")
    text: Any = array[()]
    return text


def as_text(value: bytes | str) -> bytes:
    """Returns a text as Python's own bytes."""
    return value.encode() if isinstance(value, str) else bytes(value)


def integers(value: TensorLike, what: str) -> np.ndarray:
    """Makes an array of int64.

    Raises:
        ValueError: the value holds no integers; or as of `host_array`.
    """
    array = host_array(value, what)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{what} must be integers, got {array.dtype}.")
    return array.astype(np.int64)


def check_on_host(values: Nested, what: str) -> None:
    """Checks that values are known on the host.

    Raises:
        ShapeUnknownDuringTrace: a `tf.function` is being traced; it runs as Python.
        ValueError: a value is known only to a running program.
    """
    # Once a class: lists of texts are long.
    if any(issubclass(kind, Tracer) for kind in set(map(type, jax.tree.leaves(values)))):
        # It imports what works on the host.
        from frontends.tf.feature_column import Texts

        if isinstance(values, Texts):
            advice = (
                f"{what} needs texts, of which a model function or step has fingerprints: it can compare them, give them to "
                "feature columns or tf.strings.to_hash_bucket_fast, and return them as predictions. Call this in a map of the dataset: "
                "dataset.map(lambda features, labels: ({**features, 'new': tf.strings.lower(features['text'])}, labels))."
            )
        else:
            advice = (
                f"{what} works on the host, and got an array of a program that is being traced. Call it in a map of the "
                "dataset, or before the step; a step takes dense arrays of numbers."
            )
        run_as_python(advice)
        raise ValueError(advice)


def shown(array: Any) -> Any:
    """Gives an array a tensor's methods; one without axes becomes a scalar."""
    return as_tensors(array[()] if isinstance(array, np.ndarray) else array)


def each(function: Callable[[Any], Any], array: np.ndarray, dtype: Any = object) -> np.ndarray:
    """Applies a function to each entry of an array of objects."""
    items = array.reshape(-1).tolist()
    return np.fromiter(map(function, items), dtype, len(items)).reshape(array.shape)


def zero_of(dtype: np.dtype) -> Any:
    """Returns the zero of a dtype; of texts the empty one."""
    return b"" if dtype.kind == "O" else dtype.type(0)


def _numpy_dtype(dtype: DTypeLike) -> np.dtype:
    found = as_dtype(dtype)
    return np.dtype(object) if found.name == "string" else found.dtype


def _is_large(array: np.ndarray) -> bool:
    limits = np.iinfo(np.int32)
    return bool(array.size and (array.min() < limits.min or array.max() > limits.max))


def _as_bytes(array: np.ndarray, what: str) -> np.ndarray:
    items = array.reshape(-1).tolist()
    kinds = set(map(type, items))
    if kinds <= {bytes}:
        return array if array.dtype.kind == "O" else array.astype(object)
    if kinds <= {str}:
        return _objects([item.encode() for item in items], array.shape)
    wrong = [kind.__name__ for kind in kinds if not issubclass(kind, str | bytes)]
    if wrong:
        raise ValueError(
            f"{what}: expected numbers or texts in rows of equal length, got {wrong[0]}.\n"
            "Fix: tf.ragged.constant(rows) for rows of different lengths."
        )
    texts = [item.encode() if isinstance(item, str) else bytes(item) for item in items]
    return _objects(texts, array.shape)


def _objects(items: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    return np.fromiter(items, object, len(items)).reshape(shape)
