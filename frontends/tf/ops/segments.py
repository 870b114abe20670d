"""Functions of `tf.math` that combine the rows of each segment of an array.

Where the number of segments is not given, it is one more than the largest index, which must be known: programs have
fixed shapes.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import convert_to_tensor, known, named


def count_of(name: str, indices: jax.Array, remedy: str) -> int:
    """Returns one more than the largest index; the function's name and a remedy are for the error that it is not known."""
    if isinstance(indices, Tracer):
        raise ValueError(
            f"{name} finds out how many segments there are by the largest index, which only the running program "
            f"knows, and programs have fixed shapes. {remedy}"
        )
    return int(np.max(np.asarray(indices), initial=-1)) + 1


def _known_count(name: str, count: TensorLike) -> int:
    count = known(count)
    if isinstance(count, Tracer):
        raise ValueError(
            f"tf.math.{name}: num_segments is known only when the program runs, and programs have fixed shapes. Give a "
            "Python number, or the size of a shape: num_segments=tf.shape(x)[0]."
        )
    return int(count)


def _has_rows(indices: jax.Array, count: int, ndim: int) -> jax.Array:
    """Tells which segments have rows, as a column that goes with an array of the segments."""
    filled = jnp.zeros(count, bool).at[indices].set(True, mode="drop")
    return filled.reshape(-1, *[1] * (ndim - 1))


def _sorted(name: str, combine: Callable[..., jax.Array], does: str) -> Callable[..., Any]:
    """Makes a function for segments that lie one after another."""
    own = f"segment_{name}"

    def segment(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> jax.Array:
        rows, indices = convert_to_tensor(data), convert_to_tensor(segment_ids)
        remedy = f"Write tf.math.unsorted_{own}(data, segment_ids, num_segments)."
        count = count_of(f"tf.math.{own}", indices, remedy)
        found = combine(rows, indices, count)
        # A segment without rows is zero, as in TensorFlow.
        filled = _has_rows(indices, count, found.ndim)
        return jnp.where(filled, found, 0).astype(rows.dtype)

    return named(own, f"{does} the rows of each segment; see `tf.math.{own}`.", segment)


def _unsorted(name: str, combine: Callable[..., jax.Array], does: str) -> Callable[..., Any]:
    """Makes a function for segments in any order; negative indices are left out."""
    own = f"unsorted_segment_{name}"

    def segment(
        data: TensorLike,
        segment_ids: TensorLike,
        num_segments: TensorLike,
        name: str | None = None,
    ) -> jax.Array:
        rows, indices = convert_to_tensor(data), convert_to_tensor(segment_ids)
        count = _known_count(own, num_segments)
        flat = rows.reshape(-1, *rows.shape[indices.ndim :])
        places = indices.reshape(-1)
        return combine(flat, jnp.where(places < 0, count, places), count).astype(rows.dtype)

    return named(own, f"{does} the rows of each segment; see `tf.math.{own}`.", segment)


def _mean(rows: jax.Array, indices: jax.Array, count: int) -> jax.Array:
    total = jax.ops.segment_sum(rows, indices, count)
    sizes = jax.ops.segment_sum(jnp.ones(indices.shape, rows.dtype), indices, count)
    return total / jnp.maximum(sizes, 1).reshape(-1, *[1] * (total.ndim - 1))


def _square_root(rows: jax.Array, indices: jax.Array, count: int) -> jax.Array:
    total = jax.ops.segment_sum(rows, indices, count)
    sizes = jax.ops.segment_sum(jnp.ones(indices.shape, rows.dtype), indices, count)
    return total / jnp.sqrt(jnp.maximum(sizes, 1)).reshape(-1, *[1] * (total.ndim - 1))


def _limited(
    combine: Callable[..., jax.Array], limit: Callable[[Any], Any]
) -> Callable[..., jax.Array]:
    """Gives segments without rows the limit of the type, where JAX gives infinity."""

    def limited(rows: jax.Array, indices: jax.Array, count: int) -> jax.Array:
        found = combine(rows, indices, count)
        if not jnp.issubdtype(rows.dtype, jnp.floating):
            return found
        # Not by its being infinite: rows may be.
        filled = _has_rows(indices, count, found.ndim)
        return jnp.where(filled, found, limit(jnp.finfo(rows.dtype)))

    return limited


segment_sum = _sorted("sum", jax.ops.segment_sum, "Adds up")
segment_mean = _sorted("mean", _mean, "Averages")
segment_max = _sorted("max", jax.ops.segment_max, "Takes the largest of")
segment_min = _sorted("min", jax.ops.segment_min, "Takes the smallest of")
segment_prod = _sorted("prod", jax.ops.segment_prod, "Multiplies")

unsorted_segment_sum = _unsorted("sum", jax.ops.segment_sum, "Adds up")
unsorted_segment_mean = _unsorted("mean", _mean, "Averages")
unsorted_segment_max = _unsorted(
    "max", _limited(jax.ops.segment_max, lambda info: info.min), "Takes the largest of"
)
unsorted_segment_min = _unsorted(
    "min", _limited(jax.ops.segment_min, lambda info: info.max), "Takes the smallest of"
)
unsorted_segment_prod = _unsorted("prod", jax.ops.segment_prod, "Multiplies")
unsorted_segment_sqrt_n = _unsorted(
    "sqrt_n", _square_root, "Adds up, and divides by the square root of the number of,"
)
