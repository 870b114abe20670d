"""Resizing: `tf.image.resize`, and TensorFlow 1's functions for one method of it each."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank
from frontends.tf.image.cropping import pad_to_bounding_box
from frontends.tf.image.host_resizing import resize_on_host, take_on_host
from frontends.tf.image.taps import (
    Grid,
    Taps,
    area_taps,
    bicubic_taps,
    bilinear_taps,
    kernel_taps,
    nearest_taps,
)
from frontends.tf.ops.convert import static_int, static_shape
from frontends.tf.ops.map_stream import in_compiled_map


class ResizeMethod:
    """Methods of `tf.image.resize`, which takes their names, too.

    Source: `tf.image.ResizeMethod`.
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# Of a bicubic filter.
_FEW_TAPS = 4
# How taps are made of a length, a size and whether to average what gets smaller.
_Making = Callable[[int, int, bool], Taps]


def _kernel(name: str) -> _Making:
    return lambda length, size, antialias: kernel_taps(length, size, name, antialias)


def _or_kernel(make: Callable[[int, int], Taps], name: str) -> _Making:
    return lambda length, size, antialias: (
        kernel_taps(length, size, name, True) if antialias else make(length, size)
    )


_METHODS: dict[Any, _Making] = {
    "bilinear": _or_kernel(bilinear_taps, "triangle"),
    "nearest": lambda length, size, antialias: nearest_taps(length, size),
    "bicubic": _or_kernel(bicubic_taps, "keyscubic"),
    "area": lambda length, size, antialias: area_taps(length, size),
    **{name: _kernel(name) for name in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")},
}
# TensorFlow 1's methods, which are numbers there.
_FORMER_TAPS: dict[str, Callable[..., Taps]] = {
    "bilinear": bilinear_taps,
    "nearest": nearest_taps,
    "bicubic": bicubic_taps,
    "area": area_taps,
}
_FORMER_METHODS = {key: name for number, name in enumerate(_FORMER_TAPS) for key in (number, name)}


def resize(
    images: TensorLike,
    size: ShapeLike,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Scales images to a height and width, with half-pixel centres and, unlike JAX, no antialiasing.

    Args:
        images: one image, or a batch.
        size: height and width.
        method: one of `tf.image.ResizeMethod`.
        preserve_aspect_ratio: whether to keep it, and make the image fit into `size`.
        antialias: whether to average what is scaled down.

    Returns:
        float32, but for the method "nearest", which keeps the dtype.

    Raises:
        ValueError: there is no such method, or `images` has other than 3 or 4 axes.

    Source: `tf.image.resize`.
    """
    if method not in _METHODS:
        raise ValueError(
            f"tf.image.resize: method must be one of {', '.join(_METHODS)}, got {method!r}."
        )
    xp, x = library_of(images)
    check_rank("tf.image.resize", x)
    height, width = _new_size(x, size, preserve_aspect_ratio)
    make = _METHODS[method]
    rows = make(x.shape[-3], height, antialias)
    return given(_resized(xp, x, rows, make(x.shape[-2], width, antialias), method == "nearest"))


def resize_with_pad(
    image: TensorLike,
    target_height: int,
    target_width: int,
    method: str = "bilinear",
    antialias: bool = False,
) -> jax.Array:
    """Scales images to fit into a height and width, keeps their proportions, and pads them with zeros.

    Args:
        image: one image, or a batch.
        target_height: of the result.
        target_width: of the result.
        method: one of `tf.image.ResizeMethod`.
        antialias: whether to average what is scaled down.

    Raises:
        ValueError: a target is not positive, or there is no such method.

    Source: `tf.image.resize_with_pad`.
    """
    return _resize_with_pad(
        image,
        target_height,
        target_width,
        lambda x, size: resize(x, size, method, False, antialias),
    )


def resize_images(
    images: TensorLike,
    size: ShapeLike,
    method: Any = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Scales images to a height and width as TensorFlow 1 does: pixels have their centres at whole numbers.

    Args:
        images: one image, or a batch.
        size: height and width.
        method: bilinear (0), nearest (1), bicubic (2) or area (3), by number or name.
        align_corners: whether the centres of the corner pixels coincide.
        preserve_aspect_ratio: whether to keep it, and make the image fit into `size`.

    Returns:
        float32, but for the method "nearest", and for images of that size already, which keep the dtype.

    Raises:
        ValueError: there is no such method, or `images` has other than 3 or 4 axes.

    Source: `tf.compat.v1.image.resize_images`.
    """
    if method not in _FORMER_METHODS:
        raise ValueError(
            f"tf.image.resize_images: method must be one of {', '.join(map(repr, _FORMER_METHODS))}, got {method!r}."
        )
    xp, x = library_of(images)
    check_rank("tf.image.resize_images", x)
    sizes = _new_size(x, size, preserve_aspect_ratio)
    if sizes == x.shape[-3:-1]:
        return given(x)
    grid = Grid(bool(align_corners), half_pixel_centers=False)
    return given(_former(xp, x, sizes, _FORMER_METHODS[method], grid))


def resize_image_with_pad(
    image: TensorLike,
    target_height: int,
    target_width: int,
    method: Any = 0,
    align_corners: bool = False,
) -> jax.Array:
    """Scales images to fit as `resize_with_pad` does, with the methods of TensorFlow 1.

    Source: `tf.compat.v1.image.resize_image_with_pad`.
    """
    return _resize_with_pad(
        image,
        target_height,
        target_width,
        lambda x, size: resize_images(x, size, method, align_corners),
    )


def resize_bilinear(
    images: TensorLike,
    size: ShapeLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> jax.Array:
    """Scales a batch of images, mixing the nearest pixels.

    Source: `tf.compat.v1.image.resize_bilinear`.
    """
    return _by_grid(images, size, "bilinear", align_corners, half_pixel_centers)


def resize_nearest_neighbor(
    images: TensorLike,
    size: ShapeLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> jax.Array:
    """Scales a batch of images, taking the nearest pixel, and keeps the dtype.

    Source: `tf.compat.v1.image.resize_nearest_neighbor`.
    """
    return _by_grid(images, size, "nearest", align_corners, half_pixel_centers)


def resize_bicubic(
    images: TensorLike,
    size: ShapeLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> jax.Array:
    """Scales a batch of images with a cubic filter.

    Source: `tf.compat.v1.image.resize_bicubic`.
    """
    return _by_grid(images, size, "bicubic", align_corners, half_pixel_centers)


def resize_area(
    images: TensorLike, size: ShapeLike, align_corners: bool = False, name: str | None = None
) -> jax.Array:
    """Scales a batch of images, averaging what a pixel covers.

    Source: `tf.compat.v1.image.resize_area`.
    """
    return _by_grid(images, size, "area", align_corners, False)


def _by_grid(images: TensorLike, size: ShapeLike, kind: str, corners: bool, half: bool) -> Any:
    if corners and half:
        raise ValueError(
            f"tf.image.resize_{kind}: if half_pixel_centers is True, align_corners must be False."
        )
    xp, x = library_of(images)
    check_rank(f"tf.image.resize_{kind}", x, least=4)
    sizes: Any = static_shape(size)
    return given(_former(xp, x, sizes, kind, Grid(bool(corners), bool(half))))


def _former(xp: Any, x: Any, sizes: tuple[int, int], kind: str, grid: Grid) -> Any:
    rows, columns = (
        _FORMER_TAPS[kind](x.shape[axis], size, grid)
        for axis, size in zip((-3, -2), sizes, strict=True)
    )
    return _resized(xp, x, rows, columns, kind == "nearest")


def _new_size(x: Any, size: ShapeLike, keep_ratio: bool) -> tuple[int, int]:
    sizes = static_shape(size)
    if len(sizes) != 2:
        raise ValueError(
            f"tf.image.resize: size must be two numbers, height and width; got {sizes}."
        )
    if not keep_ratio:
        return sizes[0], sizes[1]
    lengths = np.asarray(x.shape[-3:-1], np.float32)
    scale = (np.asarray(sizes, np.float32) / lengths).min()
    height, width = np.rint(scale * lengths).astype(int).tolist()
    return height, width


def _resized(xp: Any, x: Any, rows: Taps, columns: Taps, nearest: bool) -> Any:
    if nearest:
        if xp is np:
            return take_on_host(x, rows, columns)
        return jnp.take(jnp.take(x, rows.indices[:, 0], -3), columns.indices[:, 0], -2)
    if xp is np:
        return resize_on_host(x, rows, columns)
    floats = x.astype(jnp.float32)
    if in_compiled_map() and max(rows.indices.shape[1], columns.indices.shape[1]) <= _FEW_TAPS:
        # A twentieth of the time of the product on a processor; no map asks for a gradient.
        return _taken(_taken(floats, rows, x.ndim - 3), columns, x.ndim - 2)
    return jnp.einsum(
        "...hwc,yh,xw->...yxc",
        floats,
        rows.matrix(x.shape[-3]),
        columns.matrix(x.shape[-2]),
        precision="highest",
    )


def _taken(x: jax.Array, taps: Taps, axis: int) -> jax.Array:
    """Adds weighted entries along an axis."""
    shape = (-1, *[1] * (x.ndim - 1 - axis))
    parts = [
        jnp.take(x, index, axis, mode="clip") * weight.reshape(shape)
        for index, weight in zip(taps.indices.T, taps.weights.T, strict=True)
    ]
    return functools.reduce(jnp.add, parts)


def _resize_with_pad(
    image: TensorLike,
    target_height: int,
    target_width: int,
    resize_to: Callable[[Any, list[int]], Any],
) -> Any:
    _, x = library_of(image)
    check_rank("tf.image.resize_with_pad", x)
    targets = np.asarray([static_int(target_height), static_int(target_width)], np.float32)
    if targets.min() <= 0:
        raise ValueError(
            f"tf.image.resize_with_pad: target_height and target_width must be > 0, got {targets.astype(int).tolist()}."
        )
    lengths = np.asarray(x.shape[-3:-1], np.float32)
    sizes = lengths / (lengths / targets).max()
    top, left = np.maximum(np.floor((targets - sizes) / 2), 0).astype(int).tolist()
    resized = resize_to(x, np.floor(sizes).astype(int).tolist())
    return pad_to_bounding_box(resized, top, left, *targets.astype(int).tolist())
