"""Arguments of TensorFlow's functions as JAX takes them, and aliases made with these conversions.

A *tensor* is what `convert_to_tensor` makes of an argument: a JAX array, or a NumPy array of text. A
*static* value is known while a program is traced: a Python number, a NumPy array, a concrete array.

An *alias* is a function of JAX under TensorFlow's parameter names. It converts its arguments first,
because JAX's own functions take neither lists nor variables (objects with `__jax_array__`).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.dtypes import jax_dtype

_NARROW = {"f": np.float32, "i": np.int32, "c": np.complex64}


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: Any = None
) -> Any:
    """Makes an array; Python's floats become float32, and integers int32 (int64 where they need it)."""
    del name
    dtype = dtype_hint if dtype is None else dtype
    if dtype is not None and np.asarray(_like(value)).dtype.kind not in "OSU":
        return jnp.asarray(value, jax_dtype(dtype))
    if isinstance(value, jax.Array):
        return value
    if _has_arrays(value):
        return jnp.asarray(value)
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return array
    if not isinstance(value, np.ndarray | np.generic):
        array = _narrow(array)
    return jnp.asarray(array, jax_dtype(array.dtype))


def _like(value: Any) -> Any:
    """A stand-in for a value that NumPy must not convert, in a program or because it is large."""
    return 0 if hasattr(value, "dtype") or _has_arrays(value) else value


def _has_arrays(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_arrays, value))
    return isinstance(value, jax.Array) or hasattr(value, "__jax_array__")


def _narrow(array: np.ndarray) -> np.ndarray:
    narrow = _NARROW.get(array.dtype.kind, array.dtype.type)
    if array.dtype.kind == "i" and array.size:
        limits = np.iinfo(np.int32)
        if array.min() < limits.min or array.max() > limits.max:
            if not jax.config.read("jax_enable_x64"):
                raise OverflowError(
                    f"The integers from {array.min()} to {array.max()} do not fit in int32, and "
                    "JAX's 64-bit types are off. Turn them on at the top of the script: "
                    'jax.config.update("jax_enable_x64", True)'
                )
            narrow = np.int64
    return array.astype(narrow)


def computed_now(values: Any) -> AbstractContextManager[None]:
    """Computes in the block while a program is traced, if Python's and NumPy's are all the values."""
    numbers = int, float, np.ndarray, np.generic
    if all(isinstance(leaf, numbers) for leaf in jax.tree.leaves(values)):
        return jax.ensure_compile_time_eval()
    return nullcontext()


def operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Converts two arguments; a Python number beside an array takes the array's dtype."""
    return _operand(x, y), _operand(y, x)


def _operand(value: Any, other: Any) -> Any:
    weak = isinstance(value, int | float | complex) and hasattr(other, "dtype")
    return value if weak else convert_to_tensor(value)


def static_shape(shape: Any) -> tuple[int, ...]:
    """Converts a shape: a number, or a list or array of numbers that are known while tracing."""
    if isinstance(shape, list | tuple):
        return tuple(int(size) for size in shape)
    return tuple(int(size) for size in np.asarray(shape).reshape(-1))


def static_axes(axis: Any) -> int | tuple[int, ...] | None:
    """Converts the `axis` of a reduction: None, a number, or several."""
    if axis is None or isinstance(axis, int):
        return axis
    axes = np.asarray(axis)
    return int(axes) if axes.ndim == 0 else tuple(axes.tolist())


def unary(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    """Makes the alias of a function of one array, `x`."""

    def alias(x: Any, name: Any = None) -> jax.Array:
        del name
        return function(convert_to_tensor(x))

    return described(alias, function)


def activation(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    """Makes the alias of a function of one array, `features`."""

    def alias(features: Any, name: Any = None) -> jax.Array:
        del name
        return function(convert_to_tensor(features))

    return described(alias, function)


def binary(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    """Makes the alias of a function of two arrays, `x` and `y`."""

    def alias(x: Any, y: Any, name: Any = None) -> jax.Array:
        del name
        return function(*operands(x, y))

    return described(alias, function)


def reduction(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    """Makes the alias of a reduction; sums of integers keep the dtype, which NumPy's do not."""

    def alias(
        input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None
    ) -> jax.Array:
        del name
        return function(
            convert_to_tensor(input_tensor), axis=static_axes(axis), keepdims=bool(keepdims)
        )

    return described(alias, function)


def described(alias: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Names and documents an alias after the function that it stands for."""
    name = getattr(function, "__name__", "function").removesuffix("_")
    summary = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0]
    alias.__name__ = alias.__qualname__ = name
    alias.__doc__ = f"{summary or name}\n\nTensorFlow's parameters over `{_path(function)}`."
    return alias


def _path(function: Callable[..., Any]) -> str:
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"
