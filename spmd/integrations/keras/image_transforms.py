"""Rotated, zoomed, shifted and sheared images: where a pixel comes from is computed once for all its channels.

Keras interpolates between channels as well, and computes an address for each of the eight neighbours of each value: a batch of 32 pictures of
180 x 180 takes eight times as long.

Touches Keras internals, which tests/spmd/integrations/keras/test_image_transforms.py runs on every supported version: the
`affine_transform` of its JAX backend, which `RandomRotation`, `RandomZoom`, `RandomTranslation` and `RandomShear` call.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.ndimage import map_coordinates
from keras.src.backend import standardize_data_format

from spmd.integrations.keras.typing import Method
from spmd.lowering import computed_once

_ORDERS = {"nearest": 0, "bilinear": 1}
_FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


def affine_transform(
    own: Method,
    /,
    images: Any,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: Any = 0,
    data_format: str | None = None,
) -> jax.Array:
    """Wraps Keras's own, which is called for its errors."""
    rank, shape = len(images.shape), jnp.shape(transform)
    is_valid = rank in (3, 4) and len(shape) in (1, 2) and shape[-1] == 8
    if interpolation not in _ORDERS or fill_mode not in _FILL_MODES or not is_valid:
        result: jax.Array = own(
            images, transform, interpolation, fill_mode, fill_value, data_format
        )
        return result
    batch = jnp.asarray(images) if rank == 4 else jnp.asarray(images)[None]
    coefficients = jnp.asarray(transform).reshape(-1, 8)
    channels_last = standardize_data_format(data_format) == "channels_last"
    transform_all = _transformation(
        _ORDERS[interpolation], fill_mode, float(fill_value), channels_last, jax.default_backend()
    )
    transformed = transform_all(batch, jnp.broadcast_to(coefficients, (len(batch), 8)))
    return transformed if rank == 4 else transformed[0]


@functools.lru_cache(maxsize=128)
def _transformation(
    order: int, mode: str, fill_value: float, channels_last: bool, platform: str
) -> Callable[..., jax.Array]:
    function = functools.partial(
        _transformed,
        order=order,
        mode=mode,
        fill_value=fill_value,
        channels_last=channels_last,
    )
    # A pixel of the result reads four of an image. On a processor XLA would compute what that is made of four times.
    return computed_once(function) if platform == "cpu" else jax.jit(function)


def _transformed(
    images: jax.Array,
    transforms: jax.Array,
    *,
    order: int,
    mode: str,
    fill_value: float,
    channels_last: bool,
) -> jax.Array:
    axis = -1 if channels_last else 0
    height, width = images.shape[1:3] if channels_last else images.shape[2:4]
    transforms = transforms.astype(jnp.promote_types(transforms.dtype, jnp.float32))
    y = jnp.arange(height, dtype=transforms.dtype)[:, None]
    x = jnp.arange(width, dtype=transforms.dtype)

    def of_image(image: jax.Array, transform: jax.Array) -> jax.Array:
        a0, a1, a2, b0, b1, b2, c0, c1 = transform
        scale = c0 * x + c1 * y + 1
        places = [(b0 * x + b1 * y + b2) / scale, (a0 * x + a1 * y + a2) / scale]
        of_channel = functools.partial(
            map_coordinates, coordinates=places, order=order, mode=mode, cval=fill_value
        )
        return jax.vmap(of_channel, in_axes=axis, out_axes=axis)(image)

    return jax.vmap(of_image)(images, transforms)
