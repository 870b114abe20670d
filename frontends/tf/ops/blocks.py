"""Functions of `tf.*` that cut arrays into blocks, and put them together again."""

from collections.abc import Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, Nested, ShapeLike, TensorLike
from frontends.tf.data.tracing import run_as_python
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, known, static_int, static_shape


def space_to_batch(
    input: TensorLike, block_shape: ShapeLike, paddings: TensorLike, name: str | None = None
) -> jax.Array:
    """Pads with zeros, and makes rows of every n-th entry along the axes after the first.

    Args:
        input: shape (rows, ...).
        block_shape: n, for each of these axes.
        paddings: for each, zeros before and after it.

    Source: `tf.space_to_batch`.
    """
    x, blocks = convert_to_tensor(input), static_shape(block_shape)
    pads = np.asarray(known(paddings)).tolist()
    rest = x.shape[1 + len(blocks) :]
    x = jnp.pad(x, [(0, 0), *pads, *[(0, 0)] * len(rest)])
    rows, spatial = x.shape[0], x.shape[1 : 1 + len(blocks)]
    split = [part for size, b in zip(spatial, blocks, strict=True) for part in (size // b, b)]
    x = x.reshape(rows, *split, *rest)
    inner = [2 * axis + 2 for axis in range(len(blocks))]
    outer = [2 * axis + 1 for axis in range(len(blocks))]
    last = range(1 + 2 * len(blocks), x.ndim)
    x = x.transpose(*inner, 0, *outer, *last)
    sizes = [size // b for size, b in zip(spatial, blocks, strict=True)]
    return x.reshape(-1, *sizes, *rest)


def batch_to_space(
    input: TensorLike, block_shape: ShapeLike, crops: TensorLike, name: str | None = None
) -> jax.Array:
    """Undoes `space_to_batch`; `crops` are its paddings.

    Source: `tf.batch_to_space`.
    """
    x, blocks = convert_to_tensor(input), static_shape(block_shape)
    cuts = np.asarray(known(crops)).tolist()
    count = len(blocks)
    spatial, rest = x.shape[1 : 1 + count], x.shape[1 + count :]
    rows = x.shape[0] // int(np.prod(blocks))
    x = x.reshape(*blocks, rows, *spatial, *rest)
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    x = x.transpose(*order, *range(2 * count + 1, x.ndim))
    sizes = [size * b for size, b in zip(spatial, blocks, strict=True)]
    x = x.reshape(rows, *sizes, *rest)
    kept = [slice(a, size - b) for (a, b), size in zip(cuts, sizes, strict=True)]
    return x[(slice(None), *kept)]


def strided_slice(
    input_: TensorLike,
    begin: ShapeLike,
    end: ShapeLike,
    strides: ShapeLike = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """Takes a part of an array, as `x[begin:end:strides]` does.

    Args:
        input_: the array.
        begin: where each axis begins.
        end: where each axis ends.
        strides: steps of each axis; None means 1.
        begin_mask: bits of the axes whose `begin` does not count.
        end_mask: bits of the axes whose `end` does not count.
        ellipsis_mask: bit of the axis that stands for as many as there are.
        new_axis_mask: bits of the places where an axis of size 1 is added.
        shrink_axis_mask: bits of the axes of which one entry is taken, and which go.
        var: accepted, and not used: assign to `variable[begin:end]`.

    Source: `tf.strided_slice`.
    """
    starts, ends = static_shape(begin), static_shape(end)
    steps = (1,) * len(starts) if strides is None else static_shape(strides)
    index: list[Any] = []
    for axis, (start, stop, step) in enumerate(zip(starts, ends, steps, strict=True)):
        bit = 1 << axis
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(start)
        else:
            low = None if begin_mask & bit else start
            index.append(slice(low, None if end_mask & bit else stop, step))
    return convert_to_tensor(input_)[tuple(index)]


def identity_n(input: Sequence[TensorLike], name: str | None = None) -> list[jax.Array]:
    """Returns the values of a list as other arrays.

    Source: `tf.identity_n`.
    """
    return [jnp.copy(convert_to_tensor(one)) for one in input]


def shape_n(
    input: Sequence[TensorLike], out_type: DTypeLike = "int32", name: str | None = None
) -> list[jax.Array]:
    """Lists the shapes of arrays.

    Source: `tf.shape_n`.
    """
    return [jnp.asarray(convert_to_tensor(one).shape, jax_dtype(out_type)) for one in input]


def parallel_stack(values: Sequence[TensorLike], name: str | None = "parallel_stack") -> jax.Array:
    """Joins arrays along a new first axis, as `tf.stack` does.

    Source: `tf.parallel_stack`.
    """
    return jnp.stack([convert_to_tensor(one) for one in values])


def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> list[jax.Array]:
    """Sorts entries into parts.

    Programs have fixed shapes: a `tf.function` that asks this of a tensor runs as Python.

    Args:
        data: its first axes are those of `partitions`.
        partitions: the part of each entry.
        num_partitions: how many parts there are.

    Raises:
        ValueError: `partitions` is (in a replica) known only to the running program, or out of range.

    Source: `tf.dynamic_partition`.
    """
    values, numbers = convert_to_tensor(data), known(convert_to_tensor(partitions))
    if isinstance(numbers, Tracer):
        _refuse("tf.dynamic_partition", "tf.where(partitions == i, data, 0)")
    parts, count = np.asarray(numbers), static_int(num_partitions)
    if parts.size and not 0 <= parts.min() <= parts.max() < count:
        raise ValueError(
            f"tf.dynamic_partition: expected partitions from 0 to {count - 1}, got {parts.min()} to {parts.max()}."
        )
    flat = values.reshape(parts.size, *values.shape[parts.ndim :])
    return [flat[np.flatnonzero(parts.reshape(-1) == one)] for one in range(count)]


def dynamic_stitch(
    indices: Sequence[TensorLike], data: Nested, name: str | None = None
) -> jax.Array:
    """Joins entries in an order; of several for one place, the last one counts.

    Args:
        indices: arrays of places.
        data: for each of them, an array that has its axes first.

    Returns:
        As long as the largest place says.

    Raises:
        ValueError: the places are (in a replica) known only to the running program.

    Source: `tf.dynamic_stitch`.
    """
    places = [known(convert_to_tensor(one)) for one in indices]
    if any(isinstance(one, Tracer) for one in places):
        _refuse("tf.dynamic_stitch", "tf.tensor_scatter_nd_update(zeros, places[:, None], rows)")
    arrays = [convert_to_tensor(one) for one in data]
    kept = [
        one.reshape(np.size(at), *one.shape[np.ndim(at) :])
        for one, at in zip(arrays, places, strict=True)
    ]
    rows = jnp.concatenate(kept)
    order = np.concatenate([np.ravel(np.asarray(at)) for at in places])
    size = int(order.max(initial=-1)) + 1
    last = np.full(size, -1)
    last[order] = np.arange(order.size)
    filled = rows[np.maximum(last, 0)]
    return jnp.where((last >= 0).reshape(-1, *[1] * (rows.ndim - 1)), filled, 0)


def _refuse(caller: str, instead: str) -> NoReturn:
    advice = (
        f"{caller} makes shapes of numbers that only the running program knows, and programs have fixed shapes. "
        f"Keep the shape: {instead}."
    )
    run_as_python(advice)
    raise ValueError(advice)
