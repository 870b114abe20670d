"""Functions of `tf.*` about arrays: making, shaping, joining and indexing them."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf.dtypes import cast, jax_dtype
from frontends.tf.ops.convert import computed_now, convert_to_tensor, operands, static_shape
from spmd import _jax_internals


def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = None) -> Any:
    """Makes an array of a value; a scalar fills `shape`."""
    del name
    tensor = convert_to_tensor(value, dtype)
    if shape is None:
        return tensor
    sizes = static_shape(shape)
    return jnp.broadcast_to(tensor, sizes) if tensor.size == 1 else tensor.reshape(sizes)


def zeros(shape: Any, dtype: Any = "float32", name: Any = None) -> jax.Array:
    """Makes zeros."""
    del name
    return jnp.zeros(static_shape(shape), jax_dtype(dtype))


def ones(shape: Any, dtype: Any = "float32", name: Any = None) -> jax.Array:
    """Makes ones."""
    del name
    return jnp.ones(static_shape(shape), jax_dtype(dtype))


def zeros_like(input: Any, dtype: Any = None, name: Any = None) -> jax.Array:
    """Makes zeros of an array's shape."""
    del name
    return jnp.zeros_like(convert_to_tensor(input), None if dtype is None else jax_dtype(dtype))


def ones_like(input: Any, dtype: Any = None, name: Any = None) -> jax.Array:
    """Makes ones of an array's shape."""
    del name
    return jnp.ones_like(convert_to_tensor(input), None if dtype is None else jax_dtype(dtype))


def fill(dims: Any, value: Any, name: Any = None) -> jax.Array:
    """Makes an array of one value."""
    del name
    return jnp.broadcast_to(convert_to_tensor(value), static_shape(dims))


def eye(
    num_rows: int,
    num_columns: int | None = None,
    batch_shape: Any = None,
    dtype: Any = "float32",
    name: Any = None,
) -> jax.Array:
    """Makes identity matrices."""
    del name
    matrix = jnp.eye(num_rows, num_columns, dtype=jax_dtype(dtype))
    batch = () if batch_shape is None else static_shape(batch_shape)
    return jnp.broadcast_to(matrix, (*batch, *matrix.shape))


def range_(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: Any = None
) -> jax.Array:
    """Makes a sequence of numbers: integers if all arguments are; `tf.range(5)` starts at 0."""
    del name
    if limit is None:
        start, limit = 0, start
    if dtype is None:
        dtype = jnp.result_type(*(convert_to_tensor(part).dtype for part in (start, limit, delta)))
    return jnp.arange(*(np.asarray(part) for part in (start, limit, delta)), dtype=jax_dtype(dtype))


def linspace(start: Any, stop: Any, num: int, name: Any = None, axis: int = 0) -> jax.Array:
    """Makes evenly spaced numbers, `stop` included."""
    del name
    return jnp.linspace(convert_to_tensor(start), convert_to_tensor(stop), int(num), axis=axis)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: Any = None,
) -> jax.Array:
    """Makes one-hot rows; an index out of range makes a row without a one."""
    del name
    if dtype is None:
        given = [value for value in (on_value, off_value) if value is not None]
        dtype = convert_to_tensor(given[0]).dtype if given else "float32"
    on, off = 1 if on_value is None else on_value, 0 if off_value is None else off_value
    hot = jax.nn.one_hot(
        convert_to_tensor(indices), int(depth), dtype=bool, axis=-1 if axis is None else axis
    )
    return jnp.where(hot, jnp.asarray(on, jax_dtype(dtype)), jnp.asarray(off, jax_dtype(dtype)))


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = "bool", name: Any = None
) -> jax.Array:
    """Marks the first `lengths[i]` columns of row i; in a program, `maxlen` must be given."""
    del name
    ends = convert_to_tensor(lengths)
    columns = jnp.arange(int(ends.max() if maxlen is None else maxlen))
    return (columns < ends[..., None]).astype(jax_dtype(dtype))


def shape(input: Any, out_type: Any = "int32", name: Any = None) -> Any:
    """Returns the shape: an integer array, in a program NumPy's, so that its items can be sizes."""
    del name
    return _integers(np.shape(_sized(input)), out_type)


def size(input: Any, out_type: Any = "int32", name: Any = None) -> Any:
    """Returns the number of elements, an integer that is known in a program, too."""
    del name
    return _integers(np.size(_sized(input)), out_type)


def rank(input: Any, name: Any = None) -> Any:
    """Returns the number of dimensions, an integer that is known in a program, too."""
    del name
    return _integers(np.ndim(_sized(input)), "int32")


def _sized(value: Any) -> Any:
    # What is symbolic, such as Keras's tensors, has a shape, too; converting it raises.
    known = isinstance(value, jax.Array | np.ndarray | np.generic)
    return value if known else convert_to_tensor(value)


def _integers(value: Any, dtype: Any) -> Any:
    if _jax_internals.is_tracing():
        return np.asarray(value, jax_dtype(dtype))[()]
    return jnp.asarray(value, jax_dtype(dtype))


def reshape(tensor: Any, shape: Any, name: Any = None) -> jax.Array:
    """Gives an array another shape, -1 for the size that is left."""
    del name
    return jnp.reshape(convert_to_tensor(tensor), static_shape(shape))


def ensure_shape(x: Any, shape: Any, name: Any = None) -> jax.Array:
    """Returns the array, or raises ValueError if its shape is another one; None fits any size."""
    del name
    tensor = convert_to_tensor(x)
    if shape is None:
        return tensor
    pairs = zip(shape, tensor.shape, strict=False)
    if len(shape) != tensor.ndim or any(size not in (None, actual) for size, actual in pairs):
        raise ValueError(f"tf.ensure_shape: expected shape {tuple(shape)}, got {tensor.shape}.")
    return tensor


def squeeze(input: Any, axis: Any = None, name: Any = None) -> jax.Array:
    """Drops dimensions of size 1: those of `axis`, or all, also if `axis` is empty."""
    del name
    axes = () if axis is None else static_shape(axis)
    return jnp.squeeze(convert_to_tensor(input), axes or None)


def expand_dims(input: Any, axis: int, name: Any = None) -> jax.Array:
    """Adds a dimension of size 1."""
    del name
    return jnp.expand_dims(convert_to_tensor(input), int(axis))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: Any = None) -> jax.Array:
    """Permutes dimensions, or reverses them."""
    del name
    tensor = convert_to_tensor(a)
    tensor = jnp.conj(tensor) if conjugate else tensor
    return jnp.transpose(tensor, None if perm is None else static_shape(perm))


def broadcast_to(input: Any, shape: Any, name: Any = None) -> jax.Array:
    """Broadcasts to a shape."""
    del name
    return jnp.broadcast_to(convert_to_tensor(input), static_shape(shape))


def _join(function: Callable[..., jax.Array], values: Any, axis: int) -> jax.Array:
    """Joins values; what is known while tracing stays known, since shapes are made like this."""
    with computed_now(values):
        return function([convert_to_tensor(value) for value in values], axis=axis)


def concat(values: Any, axis: int, name: Any = None) -> jax.Array:
    """Joins arrays along an axis; one array, which is no list of them, stays as it is."""
    del name
    values = values if isinstance(values, list | tuple) else [values]
    return _join(jnp.concatenate, values, int(axis))


def stack(values: Any, axis: int = 0, name: Any = "stack") -> jax.Array:
    """Joins arrays along a new axis."""
    del name
    return _join(jnp.stack, values, int(axis))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: Any = None) -> list[jax.Array]:
    """Splits an array into a list along an axis, which goes."""
    del name, num
    tensor = jnp.moveaxis(convert_to_tensor(value), axis, 0)
    return [tensor[index] for index in range(tensor.shape[0])]


def split(
    value: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None, name: Any = None
) -> list[jax.Array]:
    """Splits an array into a list: of that many parts, or of parts of those sizes (-1 once)."""
    del name, num
    tensor = convert_to_tensor(value)
    if np.ndim(num_or_size_splits) == 0:
        return list(jnp.split(tensor, int(num_or_size_splits), axis=axis))
    sizes = list(static_shape(num_or_size_splits))
    if -1 in sizes:
        sizes[sizes.index(-1)] = tensor.shape[axis] - sum(sizes) - 1
    if sum(sizes) != tensor.shape[axis]:
        raise ValueError(
            f"tf.split: the sizes {sizes} add up to {sum(sizes)}, but axis {axis} of shape "
            f"{tensor.shape} has {tensor.shape[axis]}."
        )
    return list(jnp.split(tensor, np.cumsum(sizes)[:-1].tolist(), axis=axis))


def tile(input: Any, multiples: Any, name: Any = None) -> jax.Array:
    """Repeats an array as a whole."""
    del name
    return jnp.tile(convert_to_tensor(input), static_shape(multiples))


def repeat(input: Any, repeats: Any, axis: int | None = None, name: Any = None) -> jax.Array:
    """Repeats each element; `repeats` is known while tracing."""
    del name
    times = np.asarray(repeats)
    times = times.item() if times.size == 1 else times
    return jnp.repeat(convert_to_tensor(input), times, axis)


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: Any = None
) -> jax.Array:
    """Pads each dimension before and after; mode is CONSTANT, REFLECT or SYMMETRIC."""
    del name
    widths = [static_shape(pair) for pair in paddings]
    options = {"constant_values": constant_values} if mode.upper() == "CONSTANT" else {}
    return jnp.pad(convert_to_tensor(tensor), widths, mode=mode.lower(), **options)


def reverse(tensor: Any, axis: Any, name: Any = None) -> jax.Array:
    """Reverses dimensions."""
    del name
    return jnp.flip(convert_to_tensor(tensor), static_shape(axis))


def roll(input: Any, shift: Any, axis: Any, name: Any = None) -> jax.Array:
    """Shifts dimensions, wrapping around."""
    del name
    return jnp.roll(convert_to_tensor(input), static_shape(shift), static_shape(axis))


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: int | None = None,
    batch_dims: int = 0,
    name: Any = None,
) -> jax.Array:
    """Takes slices along an axis; out of range, floats become NaN, where TensorFlow raises."""
    del name, validate_indices
    table, rows = convert_to_tensor(params), convert_to_tensor(indices)
    batch_dims %= rows.ndim + 1
    along = batch_dims if axis is None else int(axis) % table.ndim
    rows = _from_the_start(rows, table.shape[along])
    take = functools.partial(jnp.take, axis=along - batch_dims)
    for _ in range(batch_dims):
        take = jax.vmap(take)
    return take(table, rows)


def _from_the_start(rows: Any, size: int) -> Any:
    """Puts indices below 0 out of range: JAX would count them from the end."""
    return (
        rows if jnp.issubdtype(rows.dtype, jnp.unsignedinteger) else jnp.where(rows < 0, size, rows)
    )


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: Any = None) -> jax.Array:
    """Takes slices by the coordinates in the last axis of `indices`; out of range as in `gather`."""
    del name

    def take(table: jax.Array, rows: jax.Array) -> jax.Array:
        places = zip(jnp.moveaxis(rows, -1, 0), table.shape, strict=False)
        return table.at[tuple(_from_the_start(*place) for place in places)].get(mode="fill")

    for _ in range(batch_dims):
        take = jax.vmap(take)
    return take(convert_to_tensor(params), convert_to_tensor(indices))


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: Any = None) -> jax.Array:
    """Takes the entries that a mask marks; not in a program, where the count is not known."""
    del name
    values = convert_to_tensor(tensor)
    before = (slice(None),) * (0 if axis is None else int(axis) % values.ndim)
    # Numbers are a mask, too, not the places of entries.
    return values[(*before, cast(convert_to_tensor(mask), bool))]


def slice_(input_: Any, begin: Any, size: Any, name: Any = None) -> jax.Array:
    """Takes a block; size -1 is the rest. `size` is known while tracing, `begin` need not be."""
    del name
    tensor, sizes = convert_to_tensor(input_), static_shape(size)
    with computed_now(begin):
        starts = convert_to_tensor(begin)
    if -1 in sizes or not isinstance(starts, Tracer):
        starts = static_shape(begin)
        rest = np.subtract(tensor.shape, starts).tolist()
        sizes = tuple(r if s == -1 else s for s, r in zip(sizes, rest, strict=True))
        if min(*starts, *sizes, 0) < 0 or any(s > r for s, r in zip(sizes, rest, strict=True)):
            raise ValueError(
                f"tf.slice: expected a block inside of shape {tensor.shape}, got begin {starts} and "
                f"size {static_shape(size)}."
            )
    return jax.lax.dynamic_slice(tensor, list(starts), sizes)


def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> jax.Array:
    """Chooses by a condition; without `x` and `y`, the coordinates of True (not in a program)."""
    del name
    if x is None and y is None:
        return jnp.argwhere(convert_to_tensor(condition))
    if x is None or y is None:
        raise ValueError("tf.where: give both x and y, or neither.")
    return jnp.where(convert_to_tensor(condition), *operands(x, y))


def identity(input: Any, name: Any = None) -> Any:
    """Returns the value as another array: a tape that watches the one does not know the other."""
    del name
    return jnp.copy(convert_to_tensor(input))


def stop_gradient(input: Any, name: Any = None) -> Any:
    """Returns the value, through which no gradient flows."""
    del name
    # Outside of a tape JAX returns the array itself, through which a later tape finds its source.
    return jnp.copy(jax.lax.stop_gradient(convert_to_tensor(input)))


def is_tensor(x: Any) -> bool:
    """Tells whether a value is an array of JAX or a variable; NumPy's are not."""
    return isinstance(x, jax.Array) or hasattr(x, "__jax_array__")


TABLE: dict[str, Any] = {
    "boolean_mask": boolean_mask,
    "broadcast_to": broadcast_to,
    "concat": concat,
    "constant": constant,
    "convert_to_tensor": convert_to_tensor,
    "ensure_shape": ensure_shape,
    "expand_dims": expand_dims,
    "eye": eye,
    "fill": fill,
    "gather": gather,
    "gather_nd": gather_nd,
    "identity": identity,
    "is_tensor": is_tensor,
    "linspace": linspace,
    "one_hot": one_hot,
    "ones": ones,
    "ones_like": ones_like,
    "pad": pad,
    "range": range_,
    "rank": rank,
    "repeat": repeat,
    "reshape": reshape,
    "reverse": reverse,
    "roll": roll,
    "sequence_mask": sequence_mask,
    "shape": shape,
    "size": size,
    "slice": slice_,
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "stop_gradient": stop_gradient,
    "tile": tile,
    "transpose": transpose,
    "unstack": unstack,
    "where": where,
    "zeros": zeros,
    "zeros_like": zeros_like,
}
