"""How much images differ, and how much pixels differ from their neighbours."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.image._library import given, library_of
from frontends.tf.image._sizes import check_rank
from frontends.tf.image.conversion import converted
from frontends.tf.ops.convert import convert_to_tensor

# How much each scale counts, from the paper on multiscale similarity.
_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> jax.Array:
    """Computes the peak signal-to-noise ratio of images, in decibels.

    Args:
        a: images, of shape `[..., height, width, channels]`.
        b: images of the same shape.
        max_val: the largest value that a pixel can have, such as 255.

    Returns:
        A number for each image.

    Raises:
        ValueError: the shapes differ.

    Source: `tf.image.psnr`.
    """
    first, second, peak = _comparable("tf.image.psnr", a, b, max_val)
    error = jnp.mean(jnp.square(first - second), axis=(-3, -2, -1))
    return 20 * jnp.log10(peak) - 10 * jnp.log10(error)


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> jax.Array:
    """Computes the structural similarity of images: 1 if they are equal.

    Args:
        img1: images, of shape `[..., height, width, channels]`.
        img2: images of the same shape.
        max_val: the largest value that a pixel can have, such as 255.
        filter_size: side of the window.
        filter_sigma: width of the Gaussian that weighs the window's pixels.
        k1: steadies the comparison of brightness.
        k2: steadies that of contrast.
        return_index_map: whether to return the similarity at every place of the window.

    Returns:
        A number for each image, or for each place.

    Raises:
        ValueError: the shapes differ, or images are smaller than the window.

    Source: `tf.image.ssim`.
    """
    first, second, peak = _comparable("tf.image.ssim", img1, img2, max_val)
    kernel = _gaussian(filter_size, filter_sigma)
    similarity, contrast = _similarity("tf.image.ssim", first, second, peak, kernel, k1, k2)
    found = similarity * contrast
    return found.mean(-1) if return_index_map else found.mean((-3, -2)).mean(-1)


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _SCALES,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> jax.Array:
    """Computes the structural similarity of images at several scales, each half of the one before.

    Args:
        img1: images, of shape `[..., height, width, channels]`.
        img2: images of the same shape.
        max_val: the largest value that a pixel can have, such as 255.
        power_factors: how much each scale counts.
        filter_size: side of the window.
        filter_sigma: width of the Gaussian that weighs the window's pixels.
        k1: steadies the comparison of brightness.
        k2: steadies that of contrast.

    Returns:
        A number for each image.

    Raises:
        ValueError: the shapes differ, or images at the last scale are smaller than the window.

    Source: `tf.image.ssim_multiscale`.
    """
    function = "tf.image.ssim_multiscale"
    first, second, peak = _comparable(function, img1, img2, max_val)
    kernel = _gaussian(filter_size, filter_sigma)
    found = []
    for scale in range(len(power_factors)):
        if scale:
            first, second = _halved(first), _halved(second)
        similarity, contrast = _similarity(function, first, second, peak, kernel, k1, k2)
        last = scale == len(power_factors) - 1
        found.append(jax.nn.relu((similarity * contrast if last else contrast).mean((-3, -2))))
    powers = jnp.stack(found, -1) ** jnp.asarray(power_factors, jnp.float32)
    return powers.prod(-1).mean(-1)


def total_variation(images: TensorLike, name: str | None = None) -> jax.Array:
    """Adds up the absolute differences of neighbouring pixels: how noisy an image is.

    Args:
        images: one image, or a batch.

    Returns:
        A number for each image.

    Raises:
        ValueError: there are other than 3 or 4 axes.

    Source: `tf.image.total_variation`.
    """
    xp, x = library_of(images)
    check_rank("tf.image.total_variation", x)
    axes = (-3, -2, -1)
    down = xp.abs(x[..., 1:, :, :] - x[..., :-1, :, :]).sum(axes)
    return given(down + xp.abs(x[..., 1:, :] - x[..., :-1, :]).sum(axes))


def image_gradients(image: TensorLike) -> tuple[jax.Array, jax.Array]:
    """Subtracts every pixel from the one below it, and from the one to its right.

    Args:
        image: a batch.

    Returns:
        The differences down and across, of the image's shape; zeros at the end.

    Raises:
        ValueError: there are other than 4 axes.

    Source: `tf.image.image_gradients`.
    """
    xp, x = library_of(image)
    check_rank("tf.image.image_gradients", x, least=4)
    down = xp.pad(x[:, 1:] - x[:, :-1], [(0, 0), (0, 1), (0, 0), (0, 0)])
    across = xp.pad(x[:, :, 1:] - x[:, :, :-1], [(0, 0), (0, 0), (0, 1), (0, 0)])
    return given(down), given(across)


def sobel_edges(image: TensorLike) -> jax.Array:
    """Computes smoothed differences of pixels, down and across.

    Args:
        image: a batch.

    Returns:
        The differences, of the image's shape with one more axis of 2.

    Raises:
        ValueError: there are other than 4 axes.

    Source: `tf.image.sobel_edges`.
    """
    xp, x = library_of(image)
    check_rank("tf.image.sobel_edges", x, least=4)
    padded = xp.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    smooth_rows = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    smooth_columns = padded[:, :, :-2] + 2 * padded[:, :, 1:-1] + padded[:, :, 2:]
    down = smooth_columns[:, 2:] - smooth_columns[:, :-2]
    across = smooth_rows[:, :, 2:] - smooth_rows[:, :, :-2]
    return given(xp.stack([down, across], -1))


def _comparable(function: str, a: TensorLike, b: TensorLike, max_val: TensorLike) -> Any:
    one, other = convert_to_tensor(a), convert_to_tensor(b)
    if one.shape[-3:] != other.shape[-3:] or one.ndim < 3:
        raise ValueError(
            f"{function}: expected images of one shape, got {tuple(one.shape)} and {tuple(other.shape)}."
        )
    peak = jnp.asarray(max_val, one.dtype)
    return tuple(converted(jnp, each, jnp.float32) for each in (one, other, peak))


def _gaussian(size: int, sigma: float) -> np.ndarray[Any, Any]:
    distances = np.arange(size, dtype=np.float32) - (size - 1) / 2
    weights = np.exp(-0.5 * np.square(distances / sigma))
    return (weights / weights.sum()).astype(np.float32)


def _similarity(
    function: str, one: Any, other: Any, peak: Any, kernel: Any, k1: float, k2: float
) -> tuple[Any, Any]:
    """Compares brightness and contrast, at every place of a window and for each channel."""
    if min(one.shape[-3:-1]) < len(kernel):
        raise ValueError(
            f"{function}: images of shape {tuple(one.shape)} are smaller than the window, filter_size={len(kernel)}."
        )
    brightness, contrast = (k1 * peak) ** 2, (k2 * peak) ** 2
    mean, other_mean = _smoothed(one, kernel), _smoothed(other, kernel)
    product = mean * other_mean * 2
    squares = mean**2 + other_mean**2
    covariance = _smoothed(one * other, kernel) * 2
    variance = _smoothed(one**2 + other**2, kernel)
    return (
        (product + brightness) / (squares + brightness),
        (covariance - product + contrast) / (variance - squares + contrast),
    )


def _smoothed(x: Any, kernel: Any) -> Any:
    """Averages pixels in a window, weighed by a kernel along both axes."""
    for axis in (-3, -2):
        count = x.shape[axis] - len(kernel) + 1
        x = sum(
            weight * jax.lax.slice_in_dim(x, start, start + count, axis=axis % x.ndim)
            for start, weight in enumerate(kernel)
        )
    return x


def _halved(x: Any) -> Any:
    """Averages four pixels each; an odd row or column is doubled first."""
    odd = [(0, size % 2) for size in x.shape[-3:-1]]
    padded = jnp.pad(x, [(0, 0)] * (x.ndim - 3) + [*odd, (0, 0)], mode="symmetric")
    height, width, channels = padded.shape[-3:]
    shape = (*padded.shape[:-3], height // 2, 2, width // 2, 2, channels)
    return padded.reshape(shape).mean((-4, -2))
