"""Convolutions of images with one channel, or with a few to few features, and kernel gradients of images with a few.

The first layer of a model for pictures is one. Matrix products over so few channels are nearly all
overhead. With one channel the convolution is done by multiply-adds, its kernel gradient as one product of the input's shifted
copies and the gradient. With a few channels two pixels that lie side by side are computed as one of twice as many features.
"""

import dataclasses
import functools
import operator

import jax
import jax.numpy as jnp
from jax import lax

from spmd.lowering.convolution import Convolution, convolve

# Positions in the window of an image with one channel. XLA computes its sum of so many terms again wherever the gradient needs
# the result, as that of activation and pooling does.
MAX_TERMS = 9


def one_channel(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Adds up the input, shifted to each position of the window, times the kernel there.

    Args:
        conv: without groups, with one channel.
        lhs: left operand, the input.
        rhs: right operand, the kernel.

    Returns:
        The convolution.
    """
    image = conv.padded(conv.lhs(lhs)).astype(conv.computes_in)
    weights = conv.rhs(rhs).astype(conv.computes_in)
    terms = (part * weights[place][0] for place, part in conv.at_window(image))
    return conv.result(functools.reduce(operator.add, terms))


def pairs_of_pixels(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Computes two pixels of a row as one pixel of twice as many features, with a kernel that is wider by the stride.

    Args:
        conv: of two spatial dimensions, without groups and dilations, whose result has rows of an even number of pixels.
        lhs: left operand, the input.
        rhs: right operand, the kernel.

    Returns:
        The convolution, as long as all numbers are finite: each pixel is also multiplied by zeros for its neighbour.
    """
    image, kernel = conv.lhs(lhs), conv.rhs(rhs)
    missing = kernel.shape[-2] % 2
    image = jnp.pad(image, [(0, 0)] * 3 + [(0, missing)])
    down, along = conv.strides
    kernels = [
        jnp.pad(kernel, [(0, 0), (before, along - before), (0, missing), (0, 0)])
        for before in (0, along)
    ]
    wider = dataclasses.replace(conv, strides=(down, 2 * along))
    result = convolve(wider, image, jnp.concatenate(kernels, -1), conv.dtype)
    return conv.result(result.reshape(len(image), *conv.out_spatial, conv.rhs_shape[-1]))


def few_channels_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Multiplies the input's shifted copies, a row of a matrix each, by the gradient.

    Args:
        conv: without groups, with the channels as the batch of the left operand.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    # Rows of the batch first, as they lie in memory: the copies are then made block by block.
    image = conv.padded(jnp.swapaxes(conv.lhs(lhs), 0, -1))
    outputs = conv.rhs_shape[-1]
    copies = [
        part[..., channel].reshape(1, -1)
        for _, part in conv.at_output(image)
        for channel in range(conv.lhs_shape[0])
    ]
    gradient = jnp.moveaxis(conv.rhs(rhs), -2, 0).reshape(-1, outputs)
    product = lax.dot(
        jnp.concatenate(copies),
        gradient,
        precision=conv.precision,
        preferred_element_type=conv.computes_in,
    )
    by_place = product.reshape(*conv.out_spatial, conv.lhs_shape[0], outputs)
    return conv.result(jnp.moveaxis(by_place, -2, 0))
