"""Convolutions of an odd number of channels, as of colour pictures.

YNNPACK of jaxlib 0.10 computes a block of 17 to 32 outputs up to eight times as slowly if the number of channels is odd, and one of 33 to
48 outputs up to three times if that number is one less than a multiple of four. A channel of zeros costs less.
"""

import jax
import jax.numpy as jnp

from spmd.lowering.convolution import Convolution, convolve
from spmd.lowering.libraries import is_jaxlib_0_10

# Outputs that the library computes at a time.
_BLOCK = 64


def lacks_a_channel(conv: Convolution) -> bool:
    """Tells whether a channel of zeros makes a convolution faster.

    Args:
        conv: of two spatial dimensions, without groups and dilation of the left operand.
    """
    if not is_jaxlib_0_10():
        return False
    channels, outputs = conv.rhs_shape[-2:]
    fewest = 3 if outputs < _BLOCK else 7
    rest = outputs % _BLOCK
    if 16 < rest <= 32:
        return channels >= fewest and channels % 2 == 1
    return 32 < rest <= 48 and channels >= fewest + 4 and channels % 4 == 3


def even_channels(conv: Convolution, lhs: jax.Array, rhs: jax.Array) -> jax.Array:
    """Convolves with one more channel, of zeros.

    Args:
        conv: of an odd number of channels.
        lhs: left operand.
        rhs: right operand.

    Returns:
        The convolution.
    """
    image, kernel = conv.lhs(lhs), conv.rhs(rhs)
    unchanged = [(0, 0)] * (conv.rank + 1)
    wider = jnp.pad(image, [*unchanged, (0, 1)])
    deeper = jnp.pad(kernel, [*unchanged[1:], (0, 1), (0, 0)])
    return conv.result(convolve(conv, wider, deeper, conv.dtype))
