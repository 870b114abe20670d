"""Functions of `tf.*` that take parts of arrays: by row number, coordinates, mask or block."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.data.tracing import run_as_python
from frontends.tf.dtypes import cast
from frontends.tf.ops.convert import (
    computed_now,
    convert_to_tensor,
    known,
    operands,
    static_int,
    static_shape,
)
from frontends.tf.ops.map_stream import is_only_for_shapes
from frontends.tf.ops.positions import existing
from frontends.tf.selected import coordinates, takes_masks

_UNKNOWN_COUNT = (
    "tf.where(condition): how many coordinates there are is known only when the program runs, and programs have fixed "
    "shapes. Keep the shape, tf.where(condition, x, 0), or take as many as you need: tf.math.top_k."
)
# What an error says before the number of a row.
MISSING_ROW = "There is no row"


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: object = None,
    axis: int | None = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> jax.Array:
    """Takes slices along an axis; ValueError if an index is out of range.

    Where only the running program knows the index, floats become NaN, where TensorFlow raises on CPUs.
    """
    table = convert_to_tensor(params)
    with computed_now(indices):
        rows = convert_to_tensor(indices)
    batch_dims %= rows.ndim + 1
    along = batch_dims if axis is None else static_int(axis) % table.ndim
    (rows,) = existing([rows], table.shape[along : along + 1], MISSING_ROW)
    take = functools.partial(jnp.take, axis=along - batch_dims)
    for _ in range(batch_dims):
        take = jax.vmap(take)
    return take(table, rows)


def gather_nd(
    params: TensorLike, indices: TensorLike, batch_dims: int = 0, name: str | None = None
) -> jax.Array:
    """Takes slices by the coordinates in the last axis of `indices`; out of range as in `gather`."""

    def take(table: jax.Array, rows: jax.Array) -> jax.Array:
        return table.at[tuple(jnp.moveaxis(rows, -1, 0))].get(mode="fill")

    table = convert_to_tensor(params)
    with computed_now(indices):
        rows = convert_to_tensor(indices)
        positions = tuple(jnp.moveaxis(rows, -1, 0))
    places = existing(positions, table.shape[batch_dims:], MISSING_ROW)
    rows = jnp.stack(places, -1) if places else rows
    for _ in range(batch_dims):
        take = jax.vmap(take)
    return take(table, rows)


def boolean_mask(
    tensor: TensorLike, mask: TensorLike, axis: int | None = None, name: str | None = None
) -> Any:
    """Takes the entries that a mask marks.

    In a program that does not know the mask yet, the result is a selected array: functions that compute entry by entry,
    reduce, gather, broadcast or join take it. A `tf.function` outside of replicas runs as Python instead.
    """
    values = convert_to_tensor(tensor)
    before = (slice(None),) * (0 if axis is None else static_int(axis) % values.ndim)
    # Numbers are a mask, too, not the places of entries.
    mask = known(mask)
    with computed_now(mask):
        marks = cast(convert_to_tensor(mask), bool)
    return values[(*before, marks)]


def slice_(
    input_: TensorLike, begin: TensorLike, size: ShapeLike, name: str | None = None
) -> jax.Array:
    """Takes a block; size -1 is the rest. `size` is known while tracing, `begin` need not be."""
    tensor, sizes = convert_to_tensor(input_), static_shape(size)
    begin = known(begin)
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


def where(
    condition: TensorLike, x: TensorLike = None, y: TensorLike = None, name: str | None = None
) -> Any:
    """Chooses by a condition; without `x` and `y`, the coordinates of True: in a program, a selected array, as of `boolean_mask`.

    Raises:
        ValueError: only the running program knows how many are True.
    """
    if x is None and y is None:
        marks = known(convert_to_tensor(condition))
        if isinstance(marks, Tracer):
            if is_only_for_shapes():
                return jnp.zeros((marks.size, marks.ndim), int)
            run_as_python(_UNKNOWN_COUNT)
            if takes_masks() and marks.ndim:
                return coordinates(marks.astype(bool))
            raise ValueError(_UNKNOWN_COUNT)
        return jnp.argwhere(marks)
    if x is None or y is None:
        raise ValueError("tf.where: give both x and y, or neither.")
    return jnp.where(convert_to_tensor(condition), *operands(x, y))
