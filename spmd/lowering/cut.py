"""Convolutions whose padding cuts pixels off at the start of an axis and adds some at its end.

The gradient of a convolution that is padded by more than the size of its kernel is one. XLA of jaxlib 0.10 reads outside of the array, and gives arbitrary
numbers, if it adds as many pixels as it cuts off. Other numbers of pixels were right where they were tried.
"""

import dataclasses

import jax

from spmd.lowering.convolution import Convolution, convolve
from spmd.lowering.libraries import is_jaxlib_0_10


def may_read_outside(conv: Convolution) -> bool:
    """Tells whether XLA may read outside of the left operand."""
    return is_jaxlib_0_10() and any(low < 0 < high for low, high in conv.padding)


def padded_first(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Pads, cuts and dilates the left operand before it is convolved.

    Args:
        conv: the geometry.
        lhs: left operand.
        rhs: right operand.

    Returns:
        The convolution.
    """
    unpadded = dataclasses.replace(
        conv, padding=((0, 0),) * conv.rank, lhs_dilation=(1,) * conv.rank
    )
    image, kernel = conv.padded(conv.lhs(lhs)), conv.rhs(rhs)
    groups = conv.feature_groups, conv.batch_groups
    return conv.result(convolve(unpadded, image, kernel, conv.dtype, *groups))
