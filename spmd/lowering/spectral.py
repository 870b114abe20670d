"""Convolutions and their kernel gradients by discrete Fourier transforms.

For each position in the kernel a convolution is a product of matrices. Of the transforms of both operands it is a product at each
frequency, which takes far fewer multiplications. Images are small, so that the transforms are matrix products as well. A
convolution and its two gradients have transforms in common, which XLA computes once.

XLA computes kernel gradients at a fraction of the speed of a matrix product, and some convolutions on one core.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from spmd.lowering.convolution import Convolution

_Complex: TypeAlias = np.ndarray[Any, np.dtype[np.complex128]]


def spectral_work(conv: Convolution) -> int:
    """Counts the multiplications of the two functions below."""
    height, width = _sizes(conv)
    columns = width // 2 + 1
    left, right, result = _values(conv)

    def transform(extent: tuple[int, ...], values: int) -> int:
        rows, across = extent
        return values * 2 * columns * rows * (across + 2 * height)

    return (
        transform(conv.lhs_shape[1:-1], left)
        + transform(conv.window, right)
        + 4 * height * columns * math.isqrt(left * right * result)
        + transform(conv.out_spatial, result)
    )


def spectral_convolution(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Multiplies the transforms of an image and of a kernel.

    Args:
        conv: of two spatial dimensions, without groups, strides and dilations.
        lhs: left operand.
        rhs: right operand.

    Returns:
        The convolution.
    """
    sizes = _sizes(conv)
    left = _transform(jnp.moveaxis(conv.lhs(lhs), 0, -2).astype(conv.computes_in), sizes)
    right = _transform(conv.rhs(rhs).astype(conv.computes_in), sizes)
    # Of the product with the conjugate, the real and the imaginary part.
    turned = jnp.stack([-right[:, :, 1], right[:, :, 0]], 2)
    parts = [
        jnp.einsum("ksbni,ksbio->ksno", left, one, precision="highest") for one in (right, turned)
    ]
    return conv.result(jnp.moveaxis(_inverse(jnp.stack(parts, 2), conv, sizes), -2, 0))


def spectral_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Multiplies the transforms of the input and of the gradient.

    Args:
        conv: as above, with the channels as the batch of the left operand.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    sizes = _sizes(conv)
    left = _transform(jnp.moveaxis(conv.lhs(lhs), 0, -1).astype(conv.computes_in), sizes)
    right = _transform(conv.rhs(rhs).astype(conv.computes_in), sizes)
    # Both parts side by side in one matrix product.
    turned = jnp.stack([left[:, :, 1], -left[:, :, 0]], 2)
    both = jnp.stack([left, turned], -2)
    product = jnp.einsum("ksanbi,ksano->ksbio", both, right, precision="highest")
    return conv.result(jnp.moveaxis(_inverse(product, conv, sizes), -2, 0))


def _values(conv: Convolution) -> tuple[int, int, int]:
    """Counts the values at a pixel of the left operand, of the right one, and of the result."""
    batch, (features, outputs) = conv.lhs_shape[0], conv.rhs_shape[-2:]
    return batch * features, features * outputs, batch * outputs


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


def _transform(values: jax.Array, sizes: tuple[int, int]) -> jax.Array:
    """Transforms an array of shape `(height, width, ...)`, after which there are zeros.

    Returns:
        Shape `(columns, rows, 2, ...)`, for real and imaginary parts of frequencies; the other half of the columns is their mirror.
    """
    height, width, *rest = values.shape
    rows, columns = _waves(sizes[0])[:, :height], _waves(sizes[1])[: sizes[1] // 2 + 1, :width]
    count = len(columns)
    across = np.stack([columns.real, columns.imag], 1).reshape(2 * count, width)
    along = _parts(rows).reshape(2 * sizes[0], 2 * height)
    flat = jnp.swapaxes(values.reshape(height, width, -1), 0, 1).reshape(width, -1)
    half = _product(across, flat).reshape(count, 2 * height, -1)
    return _product(_for_each(count, along), half).reshape(count, sizes[0], 2, *rest)


def _inverse(values: jax.Array, conv: Convolution, sizes: Sequence[int]) -> jax.Array:
    """Transforms back, and returns what the convolution has, of shape `(*out_spatial, ...)`."""
    count, rest = values.shape[0], values.shape[3:]
    rows, columns = (
        (_waves(size).conj() / size)[(np.arange(out) - low) % size]
        for size, out, (low, _) in zip(sizes, conv.out_spatial, conv.padding, strict=True)
    )
    mirrored = np.full(count, 2.0)
    mirrored[0] = 1.0
    if sizes[1] % 2 == 0:
        mirrored[-1] = 1.0
    along = _parts(rows).transpose(1, 0, 3, 2).reshape(2 * len(rows), -1)
    pairs = np.stack([columns.real, -columns.imag], 2)[:, :count]
    across = (pairs * mirrored[:, None]).reshape(len(columns), -1)
    half = _product(_for_each(count, along), values.reshape(count, along.shape[-1], -1))
    result = _product(across, half.reshape(2 * count, -1)).reshape(*conv.out_spatial[::-1], *rest)
    return jnp.swapaxes(result, 0, 1)


def _product(matrix: np.ndarray[Any, Any], values: jax.Array) -> jax.Array:
    return jnp.matmul(matrix.astype(values.dtype), values, precision="highest")


def _for_each(count: int, matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Repeats a matrix, for a product at each column: a single one would have XLA reorder what it is multiplied by."""
    return np.stack([matrix] * count)
