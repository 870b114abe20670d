"""Functions of `tf.*` that limit entries or norms."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import Axis, Nested, TensorLike
from frontends.tf.indexed_slices import on_values
from frontends.tf.ops.convert import convert_to_tensor, static_axes
from frontends.tf.ops.linalg import global_norm


def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """Limits every entry, of `tf.IndexedSlices` those that it has; at the limits, the gradient is that of the entry."""

    def clip(t: TensorLike) -> jax.Array:
        x = convert_to_tensor(t)
        low, high = (convert_to_tensor(one, x.dtype) for one in (clip_value_min, clip_value_max))
        x = jnp.where(x > high, high, x)
        return jnp.where(x < low, low, x)

    return on_values(clip, t)


def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: Axis = None, name: str | None = None
) -> Any:
    """Scales an array, or the values of `tf.IndexedSlices`, down to a Euclidean norm, over all axes or over some."""

    def clip(t: TensorLike) -> jax.Array:
        x = convert_to_tensor(t)
        squares = jnp.sum(jnp.square(x), axis=static_axes(axes), keepdims=True)
        # The square root has no gradient at zero.
        norm = jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1)), squares)
        return x * clip_norm / jnp.maximum(norm, clip_norm)

    return on_values(clip, t)


def clip_by_global_norm(
    t_list: Nested, clip_norm: TensorLike, use_norm: TensorLike = None, name: str | None = None
) -> tuple[list[Any], jax.Array]:
    """Scales all arrays and `tf.IndexedSlices` of a list by one factor; if their norm is not finite, to NaN.

    Returns:
        The scaled arrays, None where there was None, and the norm before.
    """
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    scale = clip_norm * jnp.minimum(1.0 / norm, 1.0 / jnp.asarray(clip_norm, norm.dtype))
    scale = jnp.where(jnp.isfinite(norm), scale, jnp.nan)

    def scaled(t: TensorLike) -> jax.Array:
        array = convert_to_tensor(t)
        return (array * scale).astype(array.dtype)

    return [None if t is None else on_values(scaled, t) for t in t_list], norm
