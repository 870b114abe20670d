"""Kernel gradients of transposed convolutions, as of `Conv2DTranspose`.

The input is dilated there and the gradient of the result is the window, which has as many positions as the result. XLA goes
through all of them, zeros included. With both operands in each other's place it is the kernel gradient of a convolution with
strides.
"""

import jax
from jax import lax

from spmd.lowering.convolution import Convolution


def transposed_kernel_gradient(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Convolves the gradient of the result with the input, each in the other's place.

    Args:
        conv: without groups, strides and dilation of the window, with a dilated left operand.
        lhs: left operand, the input.
        rhs: right operand, the gradient of the result.

    Returns:
        The convolution.
    """
    padding: list[tuple[int, int]] = []
    for size, step, extent, out, (low, _) in zip(
        conv.lhs_shape[1:-1],
        conv.lhs_dilation,
        conv.window,
        conv.out_spatial,
        conv.padding,
        strict=True,
    ):
        first = out - 1 - low
        padding.append((first, out + step * (size - 1) - extent - first))
    batch, outputs, *spatial = conv.layouts[2]
    backwards = lax.conv_general_dilated(
        rhs,
        lhs,
        window_strides=conv.strides,
        padding=padding,
        rhs_dilation=conv.lhs_dilation,
        dimension_numbers=lax.ConvDimensionNumbers(
            conv.layouts[1], conv.layouts[0], (outputs, batch, *spatial)
        ),
        precision=conv.precision,
        preferred_element_type=conv.computes_in,
    )
    return lax.rev(backwards, spatial).astype(conv.dtype)
