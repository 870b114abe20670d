"""Gradients by the kernel of a convolution, where a processor's libraries are slow: few outputs, and small batches.

Such a gradient is a convolution with a large window, the gradient of the output. The batch takes the place of the channels there. The
libraries multiply matrices with a column for each output, and as many terms in a row as the batch has images.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from spmd.lowering.convolution import Convolution, convolve


def exchanged_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Convolves the gradient with the input in place of the input with the gradient, for fewer outputs than channels.

    Args:
        conv: without groups, strides and dilations, with the channels as the batch of the left operand.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    gradient = jnp.moveaxis(conv.rhs(rhs), -1, 0)
    window = jnp.moveaxis(conv.lhs(lhs), 0, -1)
    padding = tuple(
        (size - 1 - low, size - 1 - high)
        for size, (low, high) in zip(conv.out_spatial, conv.padding, strict=True)
    )
    exchanged = convolve(dataclasses.replace(conv, padding=padding), gradient, window, conv.dtype)
    in_order = lax.rev(exchanged, range(1, conv.rank + 1))
    return conv.result(jnp.swapaxes(in_order, 0, -1))


def small_batch_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Multiplies copies of the input, shifted by columns, by copies of the gradient, shifted by rows: one product of matrices.

    Args:
        conv: of two spatial dimensions, without groups, strides and dilations, with the channels as the batch of the left operand.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution, as long as all numbers are finite.
    """
    image = jnp.moveaxis(conv.lhs(lhs), 0, -1)  # (rows, columns, batch, channels)
    gradient = conv.rhs(rhs)
    rows, columns = conv.out_spatial
    (top, _), across = conv.padding
    wide = _padded(image, 1, *across)
    width, outputs = gradient.shape[1], gradient.shape[-1]
    images = [lax.slice_in_dim(wide, at, at + width, axis=1) for at in range(columns)]
    missing = image.shape[0] - gradient.shape[0]
    gradients = [_padded(gradient, 0, at - top, missing - at + top) for at in range(rows)]
    all_but_last = (0, 1, 2), (0, 1, 2)
    product = lax.dot_general(
        jnp.concatenate(images, -1),
        jnp.concatenate(gradients, -1),
        (all_but_last, ((), ())),
        precision=conv.precision,
        preferred_element_type=conv.computes_in,
    )
    by_place = product.reshape(columns, image.shape[-1], rows, outputs)
    return conv.result(by_place.transpose(1, 2, 0, 3))


def _padded(operand: jax.Array, axis: int, low: int, high: int) -> jax.Array:
    """Pads (or cuts) one dimension with zeros."""
    config = [(0, 0, 0)] * operand.ndim
    config[axis] = (low, high, 0)
    return lax.pad(operand, jnp.zeros((), operand.dtype), config)
