"""Functions of `tf.*` that make arrays: constants, ranges, one-hot rows and masks."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.dtypes import as_dtype, jax_dtype
from frontends.tf.ops.convert import (
    convert_to_tensor,
    has_symbolic_size,
    known,
    static_int,
    static_shape,
)
from frontends.tf.ops.traced_range import TracedRange


def constant(
    value: TensorLike, dtype: DTypeLike = None, shape: ShapeLike = None, name: str | None = None
) -> Any:
    """Makes an array of a value; a scalar fills `shape`."""
    tensor = convert_to_tensor(value, dtype)
    if shape is None:
        return tensor
    sizes = static_shape(shape)
    if tensor.size != 1:
        return tensor.reshape(sizes)
    return (np if isinstance(tensor, np.ndarray) else jnp).broadcast_to(tensor, sizes)


def zeros(shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None) -> jax.Array:
    """Makes zeros; of texts, empty ones, on the host."""
    if as_dtype(dtype).name == "string":
        return as_tensors(np.full(static_shape(shape), b"", object))
    return jnp.zeros(static_shape(shape), jax_dtype(dtype))


def ones(shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None) -> jax.Array:
    """Makes ones."""
    return jnp.ones(static_shape(shape), jax_dtype(dtype))


def zeros_like(input: TensorLike, dtype: DTypeLike = None, name: str | None = None) -> jax.Array:
    """Makes zeros of an array's shape."""
    return jnp.zeros_like(convert_to_tensor(input), None if dtype is None else jax_dtype(dtype))


def ones_like(input: TensorLike, dtype: DTypeLike = None, name: str | None = None) -> jax.Array:
    """Makes ones of an array's shape."""
    return jnp.ones_like(convert_to_tensor(input), None if dtype is None else jax_dtype(dtype))


def fill(dims: ShapeLike, value: TensorLike, name: str | None = None) -> jax.Array:
    """Makes an array of one value."""
    return jnp.broadcast_to(convert_to_tensor(value), static_shape(dims))


def eye(
    num_rows: int,
    num_columns: int | None = None,
    batch_shape: ShapeLike = None,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> jax.Array:
    """Makes identity matrices."""
    columns = None if num_columns is None else static_int(num_columns)
    matrix = jnp.eye(static_int(num_rows), columns, dtype=jax_dtype(dtype))
    batch = () if batch_shape is None else static_shape(batch_shape)
    return jnp.broadcast_to(matrix, (*batch, *matrix.shape))


_SHORT_RANGE = 1 << 16


def range_(
    start: TensorLike,
    limit: TensorLike = None,
    delta: TensorLike = 1,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Any:
    """Makes a sequence of numbers: integers if all arguments are; `tf.range(5)` starts at 0.

    In a program, of numbers that are known only when it runs, something to loop over, which is no array.
    """
    if limit is None:
        start, limit = 0, start
    if dtype is None:
        dtype = jnp.result_type(*(convert_to_tensor(part).dtype for part in (start, limit, delta)))
    start, limit, delta = known([start, limit, delta])
    if any(isinstance(part, Tracer) for part in (start, limit, delta)):
        return TracedRange(start, limit, delta, jax_dtype(dtype))
    if any(map(has_symbolic_size, (start, limit, delta))):
        return jnp.arange(start, limit, delta, dtype=jax_dtype(dtype))
    ends = [np.asarray(part) for part in (start, limit, delta)]
    # A loop over a short range can then be known for what it is, in a program too.
    short = abs(float(ends[1] - ends[0])) <= _SHORT_RANGE * abs(float(ends[2]))
    with jax.ensure_compile_time_eval() if short else contextlib.nullcontext():
        return jnp.arange(*ends, dtype=jax_dtype(dtype))


def linspace(
    start: TensorLike, stop: TensorLike, num: int, name: str | None = None, axis: int = 0
) -> jax.Array:
    """Makes evenly spaced numbers, `stop` included."""
    return jnp.linspace(
        convert_to_tensor(start), convert_to_tensor(stop), static_int(num), axis=axis
    )


def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike = None,
    off_value: TensorLike = None,
    axis: int | None = None,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Makes one-hot rows; an index out of range makes a row without a one.

    Raises:
        TypeError: the indices are not of an integer type.
    """
    if dtype is None:
        given = [value for value in (on_value, off_value) if value is not None]
        dtype = convert_to_tensor(given[0]).dtype if given else "float32"
    on, off = 1 if on_value is None else on_value, 0 if off_value is None else off_value
    places = convert_to_tensor(indices)
    if not jnp.issubdtype(places.dtype, jnp.integer):
        raise TypeError(
            f"tf.one_hot takes indices of an integer type, got {places.dtype}. Write "
            "tf.one_hot(tf.cast(indices, tf.int32), depth)."
        )
    if places.dtype.itemsize < 4:  # JAX counts up to `depth` in the dtype of the indices
        places = places.astype(jnp.int32)
    hot = jax.nn.one_hot(places, static_int(depth), dtype=bool, axis=-1 if axis is None else axis)
    return jnp.where(hot, jnp.asarray(on, jax_dtype(dtype)), jnp.asarray(off, jax_dtype(dtype)))


def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike = None,
    dtype: DTypeLike = "bool",
    name: str | None = None,
) -> jax.Array:
    """Marks the first `lengths[i]` columns of row i; in a program, `maxlen` must be given."""
    ends = convert_to_tensor(lengths)
    columns = jnp.arange(static_int(ends.max() if maxlen is None else maxlen))
    return (columns < ends[..., None]).astype(jax_dtype(dtype))
