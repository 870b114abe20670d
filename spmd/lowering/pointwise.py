"""Convolutions that are matrix products: with a window of one pixel, or an output of one pixel.

The first are pointwise convolutions and their gradients with regard to the input, the second the gradients
of pointwise convolutions with regard to the kernel. XLA runs them as convolutions, on one thread.
"""

import math

import jax
from jax import lax

from spmd.lowering.convolution import Convolution, dilated


def pointwise(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Multiplies each pixel by the kernel; a dilated input is dilated after that.

    Args:
        conv: with a window of one pixel, and strides or a dilation of the left operand, not both.
        lhs: left operand.
        rhs: right operand.

    Returns:
        The convolution.
    """
    pixels, kernel = conv.lhs(lhs), conv.rhs(rhs).reshape(conv.rhs_shape[-2:])
    is_dilated = math.prod(conv.lhs_dilation) > 1
    if not is_dilated:
        ((_, pixels),) = conv.at_window(conv.padded(pixels))
    axes = (((conv.rank + 1,), (0,)), ((), ()))
    product = lax.dot_general(
        pixels, kernel, axes, conv.precision, preferred_element_type=conv.computes_in
    ).astype(conv.dtype)
    return conv.result(dilated(product, conv.padding, conv.lhs_dilation) if is_dilated else product)


def pointwise_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Multiplies what lies in the window by the right operand, which is as large.

    Args:
        conv: with an output of one pixel.
        lhs: left operand.
        rhs: right operand.

    Returns:
        The convolution.
    """
    ((_, block),) = conv.at_output(conv.padded(conv.lhs(lhs)))
    # Summed in the order of memory; XLA would copy both operands otherwise.
    _, *contracted = conv.layouts[0]
    of_block = [conv.rank + 1, *range(1, conv.rank + 1)]
    of_rhs = [conv.rank, *range(conv.rank)]
    order = sorted(range(conv.rank + 1), key=contracted.__getitem__)
    operands = (
        (block, [of_block[at] for at in order]),
        (conv.rhs(rhs), [of_rhs[at] for at in order]),
    )
    # XLA transposes the left operand, which takes long where that has more channels. A barrier, because it
    # would exchange the operands again to have no transposed product.
    exchanged = conv.lhs_shape[0] > conv.rhs_shape[-1]
    (left, of_left), (right, of_right) = reversed(operands) if exchanged else operands
    product = lax.dot_general(
        left,
        right,
        ((of_left, of_right), ((), ())),
        conv.precision,
        preferred_element_type=conv.computes_in,
    )
    if exchanged:
        product = lax.optimization_barrier(product).T
    return conv.result(product.reshape(conv.lhs_shape[0], *conv.out_spatial, -1))
