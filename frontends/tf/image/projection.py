"""Projective transformations of pictures: `tf.raw_ops.ImageProjectiveTransformV3`."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.ops.convert import convert_to_tensor, static_shape


def projective_transform(
    *,
    images: TensorLike,
    transforms: TensorLike,
    output_shape: ShapeLike,
    fill_value: TensorLike = 0.0,
    interpolation: str,
    fill_mode: str = "CONSTANT",
    name: str | None = None,
) -> jax.Array:
    """Takes each pixel of the result from where a transformation says.

    Args:
        images: shape (rows, height, width, channels).
        transforms: eight numbers a0 to a2, b0 to b2, c0 and c1 for each image, or once for all: the pixel (x, y) of the
            result is that at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
        output_shape: height and width.
        fill_value: of pixels from outside, with CONSTANT.
        interpolation: `"NEAREST"` or `"BILINEAR"`.
        fill_mode: `"CONSTANT"`, `"REFLECT"`, `"WRAP"` or `"NEAREST"`.

    Raises:
        ValueError: the interpolation or the mode is none of these.

    Source: `tf.raw_ops.ImageProjectiveTransformV3`.
    """
    if interpolation not in ("NEAREST", "BILINEAR") or fill_mode not in _MODES:
        raise ValueError(
            "ImageProjectiveTransformV3: expected interpolation NEAREST or BILINEAR and fill_mode CONSTANT, REFLECT, "
            f"WRAP or NEAREST, got {interpolation} and {fill_mode}."
        )
    pictures = convert_to_tensor(images)
    numbers = jnp.asarray(convert_to_tensor(transforms), jnp.float32).reshape(-1, 8)
    numbers = jnp.broadcast_to(numbers, (pictures.shape[0], 8))
    height, width = static_shape(output_shape)
    y, x = jnp.meshgrid(jnp.arange(height), jnp.arange(width), indexing="ij")
    fill = jnp.asarray(fill_value, jnp.float32)

    def one(picture: jax.Array, t: jax.Array) -> jax.Array:
        k = t[6] * x + t[7] * y + 1.0
        safe = jnp.where(k == 0, 1.0, k)
        column = _MODES[fill_mode]((t[0] * x + t[1] * y + t[2]) / safe, picture.shape[1])
        row = _MODES[fill_mode]((t[3] * x + t[4] * y + t[5]) / safe, picture.shape[0])
        take = _nearest if interpolation == "NEAREST" else _bilinear
        found = take(picture.astype(jnp.float32), row, column, fill)
        return jnp.where((k == 0)[..., None], fill, found)

    return jax.vmap(one)(pictures, numbers).astype(pictures.dtype)


def _reflected(at: jax.Array, size: int) -> jax.Array:
    if size <= 1:
        return jnp.zeros_like(at)
    within = jnp.mod(at, 2.0 * size)
    return jnp.clip(jnp.where(within >= size, 2.0 * size - within - 1, within), 0, size - 1)


def _wrapped(at: jax.Array, size: int) -> jax.Array:
    if size <= 1:
        return jnp.zeros_like(at)
    # As in TensorFlow, which counts the pictures between by the last pixel, not by the size.
    turns = jnp.where(at < 0, jnp.trunc(-at / (size - 1)) + 1, -jnp.trunc(at / (size - 1)))
    outside = (at < 0) | (at > size - 1)
    return jnp.clip(jnp.where(outside, at + size * turns, at), 0, size - 1)


_MODES: dict[str, Any] = {
    "CONSTANT": lambda at, size: at,
    "REFLECT": _reflected,
    "WRAP": _wrapped,
    "NEAREST": lambda at, size: jnp.clip(at, 0, size - 1),
}


def _read(picture: jax.Array, row: jax.Array, column: jax.Array, fill: jax.Array) -> jax.Array:
    height, width = picture.shape[:2]
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    places = jnp.clip(row, 0, height - 1), jnp.clip(column, 0, width - 1)
    found = picture[tuple(one.astype(jnp.int32) for one in places)]
    return jnp.where(inside[..., None], found, fill)


def _nearest(picture: jax.Array, row: jax.Array, column: jax.Array, fill: jax.Array) -> jax.Array:
    # Halves are rounded away from zero.
    rows, columns = (jnp.trunc(one + jnp.copysign(0.5, one)) for one in (row, column))
    return _read(picture, rows, columns, fill)


def _bilinear(picture: jax.Array, row: jax.Array, column: jax.Array, fill: jax.Array) -> jax.Array:
    top, left = jnp.floor(row), jnp.floor(column)
    down, right = (row - top)[..., None], (column - left)[..., None]

    def line(at: jax.Array) -> jax.Array:
        near, far = (_read(picture, at, one, fill) for one in (left, left + 1))
        return near * (1 - right) + far * right

    return line(top) * (1 - down) + line(top + 1) * down
