"""Arguments of TensorFlow's functions as JAX takes them, and aliases made with these conversions.

A *tensor* is what `convert_to_tensor` makes of an argument: a JAX array, or a NumPy array of text. A
*static* value is known while a program is traced: a Python number, a NumPy array, a concrete array.

An *alias* is a function of JAX under TensorFlow's parameter names. It converts its arguments first,
because JAX's own functions take neither lists nor variables (objects with `__jax_array__`).
"""

import contextlib
import functools
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import Axis, DTypeLike, Nested, ShapeLike, TensorLike
from frontends.tf.data.host_tensors import HostTensor
from frontends.tf.dtypes import DType, as_dtype, fits, jax_dtype, require_room
from spmd import _jax_internals
from spmd.replica import is_per_replica

_NARROW = {"f": np.float32, "i": np.int32, "c": np.complex64}


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike = None,
    dtype_hint: DTypeLike = None,
    name: str | None = None,
) -> Any:
    """Makes an array; Python's floats become float32, and integers int32 (int64 where they need it).

    Args:
        value: a number, a text, an array or variable, or nested lists of them.
        dtype: dtype of the result. NumPy's arrays are cast to it, as in TensorFlow; of anything else
            nothing is cut off.
        dtype_hint: dtype to use if the value fits it; an array of JAX keeps its own.

    Returns:
        An array of JAX; of texts, NumPy's.

    Raises:
        OverflowError: integers need 64 bits, and JAX's 64-bit types are off.
        TypeError: the value does not fit `dtype`, as 1.7 does not fit an integer.
        ValueError: an array has another dtype than `dtype`, or there is None in the value.

    Examples:
        >>> convert_to_tensor([1, 2], dtype="float32").dtype
        dtype('float32')
        >>> convert_to_tensor(1.5, dtype_hint="int32").dtype
        dtype('float32')

    Source: `tf.convert_to_tensor`.
    """
    if dtype is not None:
        return _of_dtype(value, as_dtype(dtype))
    if dtype_hint is not None and not is_tensor(value):
        with contextlib.suppress(OverflowError, TypeError, ValueError):
            return _of_dtype(value, as_dtype(dtype_hint))
    if isinstance(value, np.ndarray) and has_symbolic_size(value):
        value = value.tolist()
    if _has_arrays(value):
        return jnp.asarray(value)
    array = _as_numpy(value)
    if array.dtype.kind in "OSU":
        return array.view(HostTensor)
    if not isinstance(value, np.ndarray | np.generic):
        array = _narrow(array)
    require_room(array, array.dtype)
    # A copy: whoever made an array of NumPy may write to it.
    return jnp.array(array, jax_dtype(array.dtype))


def _of_dtype(value: TensorLike, dtype: DType) -> Any:
    if _has_arrays(value):
        array, target = jnp.asarray(value), jax_dtype(dtype)
        if array.dtype != target and (is_tensor(value) or _rank(array.dtype) > _rank(target)):
            raise ValueError(
                f"Tensor conversion requested dtype {target} for an array with dtype {array.dtype}. "
                f"Cast it: tf.cast(x, tf.{target})."
            )
        return array.astype(target)
    array = _as_numpy(value)
    if not array.size and dtype.name == "string":
        return array.astype(str)
    text = array.dtype.kind in "OSU"
    if text != (dtype.name == "string"):
        raise TypeError(f"Cannot convert {repr(value)[:80]} to an array of dtype {dtype.name}.")
    if text:
        return array.view(HostTensor)
    # NumPy's arrays are cast, as in TensorFlow, and in an empty list nothing is cut off.
    whole = isinstance(value, np.ndarray | np.generic) or not array.size
    if not whole and _rank(array.dtype) > _rank(dtype.dtype):
        raise TypeError(
            f"Cannot convert {repr(value)[:80]} to an array of dtype {dtype.name}: numbers would be "
            f"cut off. If they may be, cast them: tf.cast(value, tf.{dtype.name})."
        )
    require_room(array, dtype)
    return jnp.array(value, jax_dtype(dtype))


def _rank(dtype: DTypeLike) -> int:
    """Orders the kinds of numbers: one fits a later kind, such as an integer a float."""
    kinds = jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating
    return next(rank for rank, kind in enumerate(kinds) if jnp.issubdtype(dtype, kind))


def _as_numpy(value: TensorLike) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind == "S" and not isinstance(value, np.ndarray | np.generic):
        # NumPy's own texts end at their last byte that is not zero; serialized messages may end with zeros.
        whole = np.asarray(value, object)
        if any(item.endswith(b"\0") for item in whole.flat):
            array = whole
    if array.dtype.kind == "O" and not all(isinstance(item, str | bytes) for item in array.flat):
        raise ValueError(
            f"Attempt to convert a value ({repr(value)[:80]}) with an unsupported type "
            f"({type(value)}) to a Tensor: expected numbers, texts, arrays or lists of them."
        )
    return array


def is_tensor(x: TensorLike) -> bool:
    """Tells whether a value is an array of JAX or a variable; NumPy's are not."""
    return isinstance(x, jax.Array) or hasattr(x, "__jax_array__")


def _has_arrays(value: TensorLike) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_arrays, value))
    return is_tensor(value)


def _narrow(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "i" and not fits(array, np.dtype(np.int32)):
        return array  # it stays as wide as it has to be, if JAX has that
    return array.astype(_NARROW.get(array.dtype.kind, array.dtype.type))


def of_sizes(function: Callable[..., Any], *values: TensorLike) -> Any:
    """Computes at once, while a program is traced, what follows from whole numbers that are known, such as sizes.

    So `tf.cond(tf.equal(tf.shape(x)[0], 1), ...)` traces the one branch that the shape has.

    Args:
        function: of arrays.
        *values: its arguments.

    Returns:
        A number of NumPy, as `tf.shape` gives; NotImplemented for other values, and outside of programs.
    """
    if not (all(map(_is_known_integer, values)) and _jax_internals.is_tracing()):
        return NotImplemented
    if all(isinstance(value, int) for value in values):
        return NotImplemented  # Python's numbers are no sizes of a tensor
    with jax.ensure_compile_time_eval():
        return np.asarray(function(*map(convert_to_tensor, values)))[()]


def _is_known_integer(value: TensorLike) -> bool:
    if isinstance(value, jax.Array):
        return not isinstance(value, Tracer) and value.ndim == 0 and value.dtype.kind in "iub"
    return isinstance(value, int | np.integer | np.bool_)


def computed_now(values: Nested) -> contextlib.AbstractContextManager[None]:
    """Computes in the block while a program is traced, if Python's and NumPy's are all the values."""
    numbers = int, float, np.ndarray, np.generic
    if all(isinstance(leaf, numbers) for leaf in jax.tree.leaves(values, is_leaf=is_per_replica)):
        return jax.ensure_compile_time_eval()
    return contextlib.nullcontext()


def now_if_known(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function compute while a program is traced, if it knows all arguments: Python can ask for the result."""

    @functools.wraps(function)
    def call(*args: TensorLike, **kwargs: Any) -> Any:
        operands = [known(arg) for arg in args]
        with computed_now((operands, kwargs)):
            return function(*operands, **kwargs)

    return call


def operands(x: TensorLike, y: TensorLike) -> tuple[Any, Any]:
    """Converts two arguments; a Python number beside an array takes the array's dtype."""
    return _operand(x, y), _operand(y, x)


def _operand(value: TensorLike, other: TensorLike) -> Any:
    weak = isinstance(value, int | float | complex) and hasattr(other, "dtype")
    return value if weak else convert_to_tensor(value)


def known(value: Any) -> Any:
    """Returns what is known while a program is traced of an array or of a list: constants, and what follows from them.

    Args:
        value: an array, a number or a list of them.

    Returns:
        NumPy's array for a traced one that follows from constants alone (`tf.constant`, sizes of a shape); anything
        else as it is.
    """
    if isinstance(value, list | tuple):
        return [known(item) for item in value]
    if not isinstance(value, Tracer):
        return value
    constant = _jax_internals.constant_value(value)
    return value if constant is None else np.asarray(constant)


def static_int(value: Any) -> int:
    """Converts a number that is known while tracing, such as an axis or a count."""
    if type(value) is int:
        return value
    return operator.index(np.asarray(known(value)).reshape(()).item())


def static_shape(shape: ShapeLike) -> tuple[int, ...]:
    """Converts a shape: a number, or a list or array of numbers that are known while tracing.

    A size that the caller of an exported program chooses stays JAX's symbol for it.
    """
    if isinstance(shape, list | tuple) and all(type(size) is int for size in shape):
        return tuple(shape)
    sizes: Any = known(shape)
    sizes = sizes if isinstance(sizes, list) else np.asarray(sizes).reshape(-1)
    static: Any = (s if jax.export.is_symbolic_dim(s) else int(s) for s in sizes)
    return tuple(static)


def has_symbolic_size(value: Any) -> bool:
    """Tells whether sizes that the caller of an exported program chooses are in a structure."""
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(has_symbolic_size, value.flat))
    if isinstance(value, list | tuple):
        return any(map(has_symbolic_size, value))
    return jax.export.is_symbolic_dim(value)


def static_axes(axis: Axis) -> int | tuple[int, ...] | None:
    """Converts the `axis` of a reduction: None, a number, or several."""
    if axis is None or isinstance(axis, int):
        return axis
    axes = np.asarray(known(axis))
    return int(axes) if axes.ndim == 0 else tuple(axes.tolist())


def unary(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    """Makes the alias of a function of one array, `x`."""

    def alias(x: TensorLike, name: str | None = None) -> jax.Array:
        known = of_sizes(function, x)
        return function(convert_to_tensor(x)) if known is NotImplemented else known

    return described(alias, function)


def activation(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    """Makes the alias of a function of one array, `features`."""

    def alias(features: TensorLike, name: str | None = None) -> jax.Array:
        return function(convert_to_tensor(features))

    return described(alias, function)


def binary(function: Callable[..., Any]) -> Callable[..., jax.Array]:
    """Makes the alias of a function of two arrays, `x` and `y`."""

    def alias(x: TensorLike, y: TensorLike, name: str | None = None) -> jax.Array:
        known = of_sizes(function, x, y)
        return function(*operands(x, y)) if known is NotImplemented else known

    return described(alias, function)


def reduction(function: Callable[..., Any], of_bools: bool = False) -> Callable[..., jax.Array]:
    """Makes the alias of a reduction, of booleans or of numbers."""

    def alias(
        input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
    ) -> jax.Array:
        x = convert_to_tensor(input_tensor)
        if (x.dtype == bool) != of_bools:
            raise TypeError(
                f"Expected {'booleans' if of_bools else 'numbers'} to reduce, got dtype {x.dtype}. "
                f"Cast them: tf.cast(x, tf.{'bool' if of_bools else 'int32'})."
            )
        return function(x, axis=static_axes(axis), keepdims=bool(keepdims))

    return described(alias, function)


def same_names(
    make_alias: Callable[..., Any], namespace: object, *names: str
) -> dict[str, Callable[..., Any]]:
    """Makes aliases of functions that JAX has by the same names as TensorFlow."""
    return {name: make_alias(getattr(namespace, name)) for name in names}


def picked(module: object, *names: str) -> dict[str, Callable[..., Any]]:
    """Lists functions that a module of ours has by TensorFlow's names already."""
    return {name: getattr(module, name) for name in names}


def described(alias: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Names and documents an alias after the function that it stands for."""
    name = getattr(function, "__name__", "function").removesuffix("_")
    summary = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0]
    path = f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"
    return named(name, f"{summary or name}\n\nTensorFlow's parameters over `{path}`.", alias)


def named(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a name, of a method with its class's, and a docstring to a function that another one made."""
    function.__name__, function.__qualname__ = name.rpartition(".")[2], name
    function.__doc__ = doc
    return function
