"""Kernel gradients of convolutions by discrete Fourier transforms.

For each position in the kernel such a gradient is a product of two large matrices, whose rows are all pixels of all images. XLA
computes it at a fraction of the speed of a matrix product. Of the transforms of both operands it is a product at each
frequency, which takes far fewer multiplications. Images are small, so that the transforms are matrix products as well.
"""

import math
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from spmd.lowering.convolution import Convolution

_Complex: TypeAlias = np.ndarray[Any, np.dtype[np.complex128]]


def spectral_work(conv: Convolution) -> int:
    """Counts the multiplications of `spectral_kernel_gradient`."""
    height, width = _sizes(conv)
    columns = width // 2 + 1
    batch, outputs = conv.rhs_shape[-2:]
    channels = conv.lhs_shape[0]

    def transform(extent: tuple[int, ...], values: int) -> int:
        rows, across = extent
        return values * 2 * columns * rows * (across + 2 * height)

    return (
        transform(conv.lhs_shape[1:-1], batch * channels)
        + transform(conv.window, batch * outputs)
        + 4 * height * columns * batch * channels * outputs
        + transform(conv.out_spatial, channels * outputs)
    )


def spectral_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Multiplies the transforms of the input and of the gradient.

    Args:
        conv: of two spatial dimensions, without groups, strides and dilations, with the channels as the batch of the left
            operand.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    sizes = _sizes(conv)
    image = jnp.moveaxis(conv.lhs(lhs), 0, -1).astype(conv.computes_in)
    gradient = conv.rhs(rhs).astype(conv.computes_in)
    starts = [low for (low, _) in conv.padding]
    left = _transform(image, starts, sizes)
    right = _transform(gradient, [0, 0], sizes)
    # Of the product with the conjugate, the real and the imaginary part: side by side in one matrix product.
    turned = jnp.stack([left[:, :, 1], -left[:, :, 0]], 2)
    both = jnp.stack([left, turned], -2)
    product = jnp.einsum("ksanbi,ksano->ksbio", both, right, precision="highest")
    kernel = _inverse(product, conv.out_spatial, sizes)
    return conv.result(jnp.moveaxis(kernel, -2, 0))


def _sizes(conv: Convolution) -> tuple[int, int]:
    """Returns the lengths of the transforms: as short as they may be, so that nothing overlaps that is not zero."""
    height, width = (
        max(low + size, out + window - 1 - low, window)
        for size, out, window, (low, _) in zip(
            conv.lhs_shape[1:-1], conv.out_spatial, conv.window, conv.padding, strict=True
        )
    )
    return height, width


def _waves(size: int) -> _Complex:
    """Returns the matrix of the transform of a length."""
    numbers = np.arange(size)
    return np.exp(-2j * math.pi * (np.outer(numbers, numbers) % size) / size)


def _parts(matrix: _Complex) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns a complex matrix as a real one of pairs, of shape `(rows, 2, 2, columns)`."""
    real, imaginary = matrix.real, matrix.imag
    return np.stack([np.stack([real, -imaginary], 1), np.stack([imaginary, real], 1)], 1)


def _transform(values: jax.Array, starts: list[int], sizes: tuple[int, int]) -> jax.Array:
    """Transforms an array of shape `(height, width, ...)` that starts at a place, and is zero elsewhere.

    Returns:
        Shape `(columns, rows, 2, ...)`, for real and imaginary parts of frequencies; the other half of the columns is their mirror.
    """
    height, width, *rest = values.shape
    rows, columns = (
        _waves(size)[:, start : start + extent]
        for size, start, extent in zip(sizes, starts, (height, width), strict=True)
    )
    columns = columns[: sizes[1] // 2 + 1]
    across = np.stack([columns.real, columns.imag], 1).astype(values.dtype)
    along = _parts(rows).astype(values.dtype)
    flat = values.reshape(height, width, -1)
    half = jnp.einsum("kaw,hwm->kahm", across, flat, precision="highest")
    whole = jnp.einsum("sbah,kahm->ksbm", along, half, precision="highest")
    return whole.reshape(*whole.shape[:3], *rest)


def _inverse(values: jax.Array, extent: tuple[int, ...], sizes: tuple[int, int]) -> jax.Array:
    """Transforms back, and returns the first values of shape `(*extent, ...)`."""
    count, rest = values.shape[0], values.shape[3:]
    rows, columns = (
        (_waves(size).conj() / size)[:many] for size, many in zip(sizes, extent, strict=True)
    )
    mirrored = np.full(count, 2.0)
    mirrored[0] = 1.0
    if sizes[1] % 2 == 0:
        mirrored[-1] = 1.0
    along = _parts(rows).astype(values.dtype)
    pairs = np.stack([columns.real, -columns.imag], 2)[:, :count]
    across = (pairs * mirrored[:, None]).astype(values.dtype)
    flat = values.reshape(*values.shape[:3], -1)
    half = jnp.einsum("rbas,ksam->kbrm", along, flat, precision="highest")
    return jnp.einsum("ckb,kbrm->rcm", across, half, precision="highest").reshape(*extent, *rest)
