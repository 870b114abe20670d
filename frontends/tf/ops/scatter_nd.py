"""Functions of `tf.*` that put elements or slices into arrays, by coordinates."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.ops.convert import computed_now, convert_to_tensor, named, static_shape
from frontends.tf.ops.positions import existing


def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: ShapeLike, name: str | None = None
) -> jax.Array:
    """Puts elements or slices into an array of zeros; what comes to the same place is added up.

    Args:
        indices: integers of shape `(..., k)`: along the last axis, a position on the first `k` axes.
        updates: what goes there, of shape `indices.shape[:-1] + shape[k:]`.
        shape: of the result.

    Raises:
        ValueError: there is no such position. Positions that only the running program knows it leaves out, as
            TensorFlow does on GPUs.

    Examples:
        >>> from frontends import tf
        >>> tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4]).tolist()
        [0, 12, 0, 6]

    Source: `tf.scatter_nd`.
    """
    new = convert_to_tensor(updates)
    return _put("add", jnp.zeros(static_shape(shape), new.dtype), indices, new)


def _of_tensor(verb: str, summary: str) -> Callable[..., jax.Array]:
    """Makes a function that changes a copy of an array."""

    def update(
        tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> jax.Array:
        held = convert_to_tensor(tensor)
        return _put(verb, held, indices, convert_to_tensor(updates, held.dtype))

    suffix = "update" if verb == "set" else {"subtract": "sub"}.get(verb, verb)
    return named(
        f"tensor_scatter_nd_{suffix}",
        f"{summary}, in a copy of an array; see `scatter_nd`.",
        update,
    )


tensor_scatter_nd_update = _of_tensor("set", "Replaces elements or slices")
tensor_scatter_nd_add = _of_tensor("add", "Adds to elements or slices")
tensor_scatter_nd_sub = _of_tensor("subtract", "Subtracts from elements or slices")
tensor_scatter_nd_max = _of_tensor("max", "Keeps the larger of old and new values")
tensor_scatter_nd_min = _of_tensor("min", "Keeps the smaller of old and new values")


def _put(verb: str, held: jax.Array, indices: TensorLike, updates: jax.Array) -> jax.Array:
    with computed_now(indices):
        positions = tuple(jnp.moveaxis(convert_to_tensor(indices), -1, 0))
    places = existing(positions, held.shape, "There is no element")
    return getattr(held.at[places], verb)(updates, mode="drop")
