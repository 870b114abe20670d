"""Functions of `tf.*` about the shape of arrays: reshaping, joining, splitting and reordering."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._shaped_texts import ShapedTexts
from frontends.tf._typing import Axis, DTypeLike, Nested, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.indexed_slices import on_values
from frontends.tf.ops.convert import (
    computed_now,
    convert_to_tensor,
    has_symbolic_size,
    known,
    static_int,
    static_shape,
)
from frontends.tf.ops.shapeless import ShapelessResult
from spmd._jax_internals import is_interposed, is_tracing

# Bytes. Larger arrays are copied faster by a program.
_JOINED_ON_HOST = 1 << 24


def shape(input: TensorLike, out_type: DTypeLike = "int32", name: str | None = None) -> Any:
    """Returns the shape: an integer array, in a program NumPy's, so that its items can be sizes."""
    return _integers(np.shape(_sized(input)), out_type)


def size(input: TensorLike, out_type: DTypeLike = "int32", name: str | None = None) -> Any:
    """Returns the number of elements, an integer that is known in a program, too."""
    return _integers(np.size(_sized(input)), out_type)


def rank(input: TensorLike, name: str | None = None) -> Any:
    """Returns the number of dimensions, an integer that is known in a program, too."""
    return _integers(np.ndim(_sized(input)), "int32")


def _sized(value: TensorLike) -> Any:
    # What is symbolic, such as Keras's tensors, has a shape, too; converting it raises.
    known = isinstance(value, jax.Array | np.ndarray | np.generic | ShapedTexts)
    return value if known else convert_to_tensor(value)


def _integers(value: TensorLike, dtype: DTypeLike) -> Any:
    if has_symbolic_size(value):
        # In an exported program, or where Keras asks for shapes: arithmetic on these keeps them sizes.
        return np.asarray(value, object)[()]
    if is_tracing():
        return np.asarray(value, jax_dtype(dtype))[()]
    return jnp.asarray(value, jax_dtype(dtype))


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> jax.Array:
    """Gives an array another shape, -1 for the size that is left; ValueError if its elements do not fill it."""
    array, sizes = convert_to_tensor(tensor), static_shape(shape)
    try:
        return jnp.reshape(array, sizes)
    except TypeError as error:
        if isinstance(error, jax.errors.JAXTypeError):
            raise
        raise ValueError(f"tf.reshape: {error}") from None


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> jax.Array:
    """Returns the array, or raises ValueError if its shape is another one; None fits any size."""
    if isinstance(x, ShapelessResult):
        x.set_shape(shape)
    tensor = convert_to_tensor(x)
    if shape is None:
        return tensor
    pairs = zip(shape, tensor.shape, strict=False)
    if len(shape) != tensor.ndim or any(size not in (None, actual) for size, actual in pairs):
        raise ValueError(f"tf.ensure_shape: expected shape {tuple(shape)}, got {tensor.shape}.")
    return tensor


def squeeze(input: TensorLike, axis: Axis = None, name: str | None = None) -> jax.Array:
    """Drops dimensions of size 1: those of `axis`, or all, also if `axis` is empty."""
    axes = () if axis is None else static_shape(axis)
    return jnp.squeeze(convert_to_tensor(input), axes or None)


def expand_dims(input: TensorLike, axis: int, name: str | None = None) -> jax.Array:
    """Adds a dimension of size 1."""
    return jnp.expand_dims(convert_to_tensor(input), static_int(axis))


def transpose(
    a: TensorLike, perm: ShapeLike = None, conjugate: bool = False, name: str | None = None
) -> jax.Array:
    """Permutes dimensions, or reverses them."""
    tensor = convert_to_tensor(a)
    tensor = jnp.conj(tensor) if conjugate else tensor
    return jnp.transpose(tensor, None if perm is None else static_shape(perm))


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> jax.Array:
    """Broadcasts to a shape."""
    return jnp.broadcast_to(convert_to_tensor(input), static_shape(shape))


def _join(function: Callable[..., jax.Array], values: Nested, axis: int) -> jax.Array:
    """Joins values; what is known while tracing stays known, since shapes are made like this."""
    join = np.stack if function is jnp.stack else np.concatenate
    if has_symbolic_size(values):
        parts = [np.asarray(value, object) for value in values]
        return join(parts, axis=axis)  # pyright: ignore[reportReturnType]
    with computed_now(values):
        arrays = [convert_to_tensor(value) for value in values]
        if not is_tracing() and not is_interposed() and _are_alike_on_host(arrays):
            # A program is made for its shapes: results that grow from step to step would have one compiled in each.
            with contextlib.suppress(ValueError):  # what does not fit, JAX says
                joined = join([np.asarray(array) for array in arrays], axis=axis)
                place = next((array.sharding for array in arrays if array.committed), None)
                return jax.device_put(joined, place)
        return function(arrays, axis=axis)


def _are_alike_on_host(arrays: Sequence[Any]) -> bool:
    """Tells whether NumPy can join arrays: they are known, in the memory of the host, of one type, and not large."""
    return (
        bool(arrays)
        and all(
            isinstance(array, jax.Array) and not isinstance(array, Tracer) and not array.weak_type
            for array in arrays
        )
        and len({array.dtype for array in arrays}) == 1
        and isinstance(arrays[0].dtype, np.dtype)  # no keys of random numbers
        and sum(array.nbytes for array in arrays) <= _JOINED_ON_HOST
        and len(devices := set().union(*(array.devices() for array in arrays))) == 1
        and all(device.platform == "cpu" for device in devices)
    )


def concat(values: Nested, axis: int, name: str | None = None) -> jax.Array:
    """Joins arrays along an axis; one array, which is no list of them, stays as it is."""
    values = values if isinstance(values, list | tuple) else [values]
    return _join(jnp.concatenate, values, static_int(axis))


def stack(values: Nested, axis: int = 0, name: str | None = "stack") -> jax.Array:
    """Joins arrays along a new axis."""
    return _join(jnp.stack, values, static_int(axis))


def unstack(
    value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = None
) -> list[jax.Array]:
    """Splits an array into a list along an axis, which goes."""
    tensor = jnp.moveaxis(convert_to_tensor(value), static_int(axis), 0)
    if num is not None and num != tensor.shape[0]:
        raise ValueError(
            f"tf.unstack: expected {num} entries along axis {axis}, got {tensor.shape[0]}."
        )
    return [tensor[index] for index in range(tensor.shape[0])]


def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: int = 0,
    num: int | None = None,
    name: str | None = None,
) -> list[jax.Array]:
    """Splits an array into a list: of that many parts, or of parts of those sizes (-1 once)."""
    tensor, axis = convert_to_tensor(value), static_int(axis)
    if np.ndim(num_or_size_splits) == 0:
        return list(jnp.split(tensor, static_int(num_or_size_splits), axis=axis))
    sizes = list(static_shape(num_or_size_splits))
    if -1 in sizes:
        sizes[sizes.index(-1)] = tensor.shape[axis] - sum(sizes) - 1
    if sum(sizes) != tensor.shape[axis]:
        raise ValueError(
            f"tf.split: the sizes {sizes} add up to {sum(sizes)}, but axis {axis} of shape "
            f"{tensor.shape} has {tensor.shape[axis]}."
        )
    return list(jnp.split(tensor, np.cumsum(sizes)[:-1].tolist(), axis=axis))


def tile(input: TensorLike, multiples: ShapeLike, name: str | None = None) -> jax.Array:
    """Repeats an array as a whole; `multiples` has a number for each dimension."""
    array, times = convert_to_tensor(input), static_shape(multiples)
    _check_count("tf.tile", "multiples", times, array)
    return jnp.tile(array, times)


def _check_count(caller: str, what: str, given: Sequence[Any], array: Any) -> None:
    if len(given) != array.ndim:
        raise ValueError(
            f"{caller}: expected {what} for each dimension of shape {tuple(array.shape)}, got {len(given)}."
        )


def repeat(
    input: TensorLike, repeats: TensorLike, axis: int | None = None, name: str | None = None
) -> jax.Array:
    """Repeats each element; `repeats` is known while tracing."""
    times = np.asarray(known(repeats))
    times = times.item() if times.size == 1 else times
    return jnp.repeat(convert_to_tensor(input), times, axis)


def pad(
    tensor: TensorLike,
    paddings: ShapeLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> jax.Array:
    """Pads each dimension before and after; mode is CONSTANT, REFLECT or SYMMETRIC."""
    widths = [static_shape(pair) for pair in known(paddings)]
    _check_count("tf.pad", "paddings", widths, convert_to_tensor(tensor))
    options = {"constant_values": constant_values} if mode.upper() == "CONSTANT" else {}
    return jnp.pad(convert_to_tensor(tensor), widths, mode=mode.lower(), **options)


def reverse(tensor: TensorLike, axis: Axis, name: str | None = None) -> jax.Array:
    """Reverses dimensions."""
    return jnp.flip(convert_to_tensor(tensor), static_shape(axis))


def roll(input: TensorLike, shift: ShapeLike, axis: Axis, name: str | None = None) -> jax.Array:
    """Shifts dimensions, wrapping around."""
    return jnp.roll(convert_to_tensor(input), static_shape(shift), static_shape(axis))


def identity(input: TensorLike, name: str | None = None) -> Any:
    """Returns the value as another array: a tape that watches the one does not know the other.

    In a model function it runs what `tf.control_dependencies` names.
    """
    return on_values(lambda values: jnp.copy(convert_to_tensor(values)), input)


def stop_gradient(input: TensorLike, name: str | None = None) -> Any:
    """Returns the value, through which no gradient flows."""
    # Outside of a tape JAX returns the array itself, through which a later tape finds its source.
    return on_values(
        lambda values: jnp.copy(jax.lax.stop_gradient(convert_to_tensor(values))), input
    )


def meshgrid(*args: TensorLike, **kwargs: Any) -> list[jax.Array]:
    """Makes the coordinates of a grid from those of its axes; `indexing` is `"xy"` or `"ij"`.

    Source: `tf.meshgrid`.
    """
    arrays = [convert_to_tensor(arg).reshape(-1) for arg in args]
    return list(jnp.meshgrid(*arrays, indexing=kwargs.get("indexing", "xy")))
