"""Convolutions of volumes, and their kernel gradients, as of `Conv3D`: XLA's code for three dimensions is slow.

Both become convolutions of pictures, one for each layer of the kernel.
"""

import functools
import math
import operator

import jax
import jax.numpy as jnp
from jax import lax

from spmd.lowering.convolution import Convolution, dilated
from spmd.lowering.few_channels import MAX_TERMS
from spmd.lowering.recomputation import computed_once


def by_layers(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Adds up convolutions of pictures, one for each layer of the window.

    Args:
        conv: of three dimensions, without groups.
        lhs: left operand.
        rhs: right operand.

    Returns:
        The convolution.
    """
    if conv.rhs_shape[-2] == 1 and math.prod(conv.window[1:]) <= MAX_TERMS:
        # `one_channel` makes each layer a sum: too many terms to be computed again wherever the result is read.
        return computed_once(functools.partial(_by_layers, conv))(lhs, rhs)
    return _by_layers(conv, lhs, rhs)


def _by_layers(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    image, kernel = _padded_in_depth(conv, lhs), conv.rhs(rhs)
    batch, depth = conv.lhs_shape[0], conv.out_spatial[0]
    sums: list[jax.Array] = []
    for place in range(conv.window[0]):
        start = place * conv.rhs_dilation[0]
        stop = start + (depth - 1) * conv.strides[0] + 1
        layers = lax.slice_in_dim(image, start, stop, conv.strides[0], axis=1)
        pictures = layers.reshape(batch * depth, *layers.shape[2:])
        sums.append(_of_pictures(conv, pictures, kernel[place]))
    total = functools.reduce(operator.add, sums)
    return conv.result(total.reshape(batch, depth, *total.shape[1:]))


def kernel_gradient_by_layers(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Computes kernel gradients of pictures, one for each layer of the kernel.

    Args:
        conv: of three dimensions, without groups and dilation of the left operand; a kernel gradient.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    image = _padded_in_depth(conv, lhs)
    depth, height, width, batch, outputs = conv.rhs_shape
    gradient = jnp.moveaxis(conv.rhs(rhs), 0, 2).reshape(height, width, depth * batch, outputs)
    layers: list[jax.Array] = []
    for place in range(conv.out_spatial[0]):
        start = place * conv.strides[0]
        stop = start + (depth - 1) * conv.rhs_dilation[0] + 1
        under = lax.slice_in_dim(image, start, stop, conv.rhs_dilation[0], axis=1)
        under = jnp.moveaxis(under, 1, 3)
        pictures = under.reshape(*under.shape[:3], depth * batch)
        layers.append(_of_pictures(conv, pictures, gradient))
    return conv.result(jnp.stack(layers, axis=1))


def _padded_in_depth(conv: Convolution, lhs: jax.Array) -> jax.Array:
    """Pads and dilates the left operand as far as layers are concerned; `_of_pictures` does the rest."""
    nothing = ((0, 0), (0, 0))
    return dilated(conv.lhs(lhs), (conv.padding[0], *nothing), (conv.lhs_dilation[0], 1, 1))


def _of_pictures(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Convolves pictures as the volume is convolved along its other two dimensions."""
    return lax.conv_general_dilated(
        lhs,
        rhs,
        conv.strides[1:],
        conv.padding[1:],
        conv.lhs_dilation[1:],
        conv.rhs_dilation[1:],
        ("NHWC", "HWIO", "NHWC"),
        precision=conv.precision,
        preferred_element_type=conv.computes_in,
    )
