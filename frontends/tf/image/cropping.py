"""Cropping and padding: parts of images, by position."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank
from frontends.tf.ops.convert import convert_to_tensor, static_int, static_shape


def central_crop(image: TensorLike, central_fraction: float) -> jax.Array:
    """Cuts the border off, so that a fraction of the height and of the width stays.

    Raises:
        ValueError: the fraction is not in (0, 1], or `image` has other than 3 or 4 axes.

    Source: `tf.image.central_crop`.
    """
    if not 0 < central_fraction <= 1:
        raise ValueError(
            f"tf.image.central_crop: central_fraction must be in (0, 1], got {central_fraction}."
        )
    _, x = library_of(image)
    check_rank("tf.image.central_crop", x)
    height, width = x.shape[-3:-1]
    top, left = (int((size - size * float(central_fraction)) / 2) for size in (height, width))
    return given(x[..., top : height - top, left : width - left, :])


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: int,
    target_width: int,
) -> jax.Array:
    """Cuts a box out of images.

    Args:
        image: one image, or a batch.
        offset_height: the first row; in a program it may be computed.
        offset_width: the first column, likewise.
        target_height: number of rows.
        target_width: number of columns.

    Raises:
        ValueError: the box does not lie in the image, or has no pixels.

    Source: `tf.image.crop_to_bounding_box`.
    """
    _, x = library_of(image, offset_height, offset_width)
    check_rank("tf.image.crop_to_bounding_box", x)
    size = static_int(target_height), static_int(target_width)
    return given(_cropped("tf.image.crop_to_bounding_box", x, (offset_height, offset_width), size))


def _cropped(function: str, x: Any, offsets: tuple[Any, Any], size: tuple[int, int]) -> Any:
    lengths = x.shape[-3:-1]
    if min(size) <= 0:
        raise ValueError(f"{function}: the target height and width must be > 0, got {size}.")
    if any(isinstance(offset, Tracer) for offset in offsets):
        _check_inside(function, lengths, (0, 0), size)
        begin = [0] * (x.ndim - 3) + [*offsets, 0]
        return jax.lax.dynamic_slice(x, begin, (*x.shape[:-3], *size, x.shape[-1]))
    top, left = map(static_int, offsets)
    _check_inside(function, lengths, (top, left), size)
    return x[..., top : top + size[0], left : left + size[1], :]


def _check_inside(function: str, lengths: Any, offsets: Any, size: Any) -> None:
    for kind, length, offset, count in zip(
        ("height", "width"), lengths, offsets, size, strict=True
    ):
        if offset < 0 or offset + count > length:
            raise ValueError(
                f"{function}: expected a box inside of the image, got {kind} {count} from {offset} on of {length}."
            )


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: int,
    target_width: int,
) -> jax.Array:
    """Places images in larger ones, of zeros.

    Args:
        image: one image, or a batch.
        offset_height: rows of zeros above the image; in a program it may be computed.
        offset_width: columns of zeros before the image, likewise.
        target_height: of the result.
        target_width: of the result.

    Raises:
        ValueError: the image does not fit, or an offset is negative.

    Source: `tf.image.pad_to_bounding_box`.
    """
    xp, x = library_of(image, offset_height, offset_width)
    check_rank("tf.image.pad_to_bounding_box", x)
    size = static_int(target_height), static_int(target_width)
    return given(_padded(xp, x, (offset_height, offset_width), size))


def _padded(xp: Any, x: Any, offsets: tuple[Any, Any], size: tuple[int, int]) -> Any:
    traced = any(isinstance(offset, Tracer) for offset in offsets)
    starts = (0, 0) if traced else tuple(map(static_int, offsets))
    _check_inside("tf.image.pad_to_bounding_box", size, starts, x.shape[-3:-1])
    shape = (*x.shape[:-3], *size, x.shape[-1])
    if xp is np:
        found = np.zeros(shape, x.dtype)
        top, left = starts
        found[..., top : top + x.shape[-3], left : left + x.shape[-2], :] = x
        return found
    begin = [0] * (x.ndim - 3) + [*offsets, 0]
    return jax.lax.dynamic_update_slice(jnp.zeros(shape, x.dtype), x, begin)


def resize_with_crop_or_pad(image: TensorLike, target_height: int, target_width: int) -> jax.Array:
    """Gives images a height and width: cuts what is too large on both sides, pads what is too small with zeros.

    Args:
        image: one image, or a batch.
        target_height: of the result.
        target_width: of the result.

    Raises:
        ValueError: a target is not positive.

    Source: `tf.image.resize_with_crop_or_pad`.
    """
    function = "tf.image.resize_with_crop_or_pad"
    xp, x = library_of(image)
    check_rank(function, x)
    size = static_int(target_height), static_int(target_width)
    excess = [target - length for target, length in zip(size, x.shape[-3:-1], strict=True)]
    kept = min(size[0], x.shape[-3]), min(size[1], x.shape[-2])
    top, left = (max(-each // 2, 0) for each in excess)
    cropped = _cropped(function, x, (top, left), kept)
    above, before = (max(each // 2, 0) for each in excess)
    return given(_padded(xp, cropped, (above, before), size))


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: ShapeLike,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> jax.Array:
    """Cuts boxes out of a batch of images, and scales each to one size.

    Args:
        image: batch of images.
        boxes: of shape `[boxes, 4]`: top, left, bottom and right, from 0 to 1 in the image. One whose bottom is above
            its top is turned over.
        box_indices: for each box, which image of the batch.
        crop_size: height and width of the result.
        method: `"bilinear"` or `"nearest"`.
        extrapolation_value: of pixels outside of the image.

    Returns:
        float32, of shape `[boxes, height, width, channels]`.

    Raises:
        ValueError: there is no such method, or shapes do not fit.

    Source: `tf.image.crop_and_resize`.
    """
    if method not in ("bilinear", "nearest"):
        raise ValueError(
            f"tf.image.crop_and_resize: method must be bilinear or nearest, got {method!r}."
        )
    xp, x = library_of(image, boxes, box_indices)
    check_rank("tf.image.crop_and_resize", x, least=4)
    corners = xp.asarray(convert_to_tensor(boxes), np.float32)
    of_image = xp.asarray(convert_to_tensor(box_indices))
    sizes = static_shape(crop_size)
    if corners.ndim != 2 or corners.shape[1] != 4 or of_image.shape != corners.shape[:1]:
        raise ValueError(
            "tf.image.crop_and_resize: expected boxes of shape [boxes, 4] and box_indices of shape [boxes], got "
            f"{tuple(corners.shape)} and {tuple(of_image.shape)}."
        )
    rows, rows_inside = _sample(xp, corners[:, 0], corners[:, 2], sizes[0], x.shape[1])
    columns, columns_inside = _sample(xp, corners[:, 1], corners[:, 3], sizes[1], x.shape[2])
    which = of_image[:, None, None]

    def pixels(row: Any, column: Any) -> Any:
        return x[which, row[:, :, None], column[:, None, :]].astype(np.float32)

    def whole(positions: Any, length: int) -> Any:
        return xp.clip(positions, 0, length - 1).astype(np.int32)

    if method == "nearest":
        found = pixels(
            whole(xp.floor(rows + 0.5), x.shape[1]), whole(xp.floor(columns + 0.5), x.shape[2])
        )
    else:
        top, bottom = whole(xp.floor(rows), x.shape[1]), whole(xp.ceil(rows), x.shape[1])
        left, right = whole(xp.floor(columns), x.shape[2]), whole(xp.ceil(columns), x.shape[2])
        down = (rows - xp.floor(rows))[:, :, None, None]
        across = (columns - xp.floor(columns))[:, None, :, None]
        above = pixels(top, left) + (pixels(top, right) - pixels(top, left)) * across
        below = pixels(bottom, left) + (pixels(bottom, right) - pixels(bottom, left)) * across
        found = above + (below - above) * down
    inside = (rows_inside[:, :, None] & columns_inside[:, None, :])[..., None]
    return given(xp.where(inside, found, np.float32(extrapolation_value)))


def _sample(xp: Any, first: Any, last: Any, size: int, length: int) -> tuple[Any, Any]:
    """Returns positions between two ends, `[boxes, size]`, and whether they lie in the image."""
    if size > 1:
        step = (last - first) * (length - 1) / (size - 1)
        positions = (first * (length - 1))[:, None] + np.arange(size, dtype=np.float32) * step[
            :, None
        ]
    else:
        positions = (0.5 * (first + last) * (length - 1))[:, None]
    return positions, (positions >= 0) & (positions <= length - 1)
