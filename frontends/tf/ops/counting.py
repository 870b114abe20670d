"""Functions of `tf.*` and `tf.math` that look where numbers lie: in bins, among sorted ones, in rising order."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import cast
from frontends.tf.ops.convert import convert_to_tensor, static_int, static_shape


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = "int32",
    name: str | None = None,
) -> jax.Array:
    """Finds for each number the bin of `histogram_fixed_width` that it falls in.

    Source: `tf.histogram_fixed_width_bins`.
    """
    numbers = convert_to_tensor(values)
    low, high = jnp.asarray(convert_to_tensor(value_range), numbers.dtype)
    bins = static_int(nbins)
    scaled = jnp.floor((numbers - low) / (high - low) * bins)
    return cast(jnp.clip(scaled, 0, bins - 1), dtype)


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = "int32",
    name: str | None = None,
) -> jax.Array:
    """Counts numbers in bins of one width.

    Args:
        values: numbers of any shape; those outside of the range count in the first and in the last bin.
        value_range: where the first bin begins, and where the last one ends.
        nbins: how many bins.
        dtype: of the counts.

    Returns:
        Shape (nbins,).

    Examples:
        >>> histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).tolist()
        [2, 1, 1, 0, 2]

    Source: `tf.histogram_fixed_width`.
    """
    found = histogram_fixed_width_bins(jnp.ravel(convert_to_tensor(values)), value_range, nbins)
    return cast(jnp.zeros(static_int(nbins), jnp.int32).at[found].add(1), dtype)


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = "int32",
    name: str | None = None,
) -> jax.Array:
    """Finds where numbers would go in sorted ones, row by row.

    Args:
        sorted_sequence: rising numbers in the last axis.
        values: has the same axes before the last one.
        side: `"left"` puts a number before equal ones, `"right"` behind them.
        out_type: of the result.

    Raises:
        ValueError: the axes before the last one differ, or `side` is another word.

    Source: `tf.searchsorted`.
    """
    if side not in ("left", "right"):
        raise ValueError(f"tf.searchsorted: `side` must be either 'right' or 'left', got {side!r}.")
    rows, wanted = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    if rows.shape[:-1] != wanted.shape[:-1]:
        raise ValueError(
            "tf.searchsorted: leading dimensions of `sorted_sequence` and `values` must match, got shapes "
            f"{tuple(rows.shape)} and {tuple(wanted.shape)}."
        )

    def search(row: jax.Array, numbers: jax.Array) -> jax.Array:
        return jnp.searchsorted(row, numbers, side=side)

    for _ in range(rows.ndim - 1):
        search = jax.vmap(search)
    return cast(search(rows, wanted), out_type)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> jax.Array:
    """Tells whether each number is at least the one before it."""
    flat = jnp.ravel(convert_to_tensor(x))
    return jnp.all(flat[1:] >= flat[:-1])


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> jax.Array:
    """Tells whether each number is larger than the one before it."""
    flat = jnp.ravel(convert_to_tensor(x))
    return jnp.all(flat[1:] > flat[:-1])


def unravel_index(indices: TensorLike, dims: ShapeLike, name: str | None = None) -> jax.Array:
    """Turns numbers of entries into their coordinates, one axis of the result for each dimension.

    Source: `tf.unravel_index`.
    """
    numbers = convert_to_tensor(indices)
    found: Any = jnp.unravel_index(numbers, static_shape(dims))
    return jnp.stack([one.astype(numbers.dtype) for one in found])
