"""Random bits drawn in one loop over an array of one or two dimensions.

By default JAX draws each number from the key and its position alone, so that those of a flat array are the same. XLA unrolls
the loops over short dimensions, and compiles the many operations that draw one number once for each turn: 6 seconds for the
dropout of a batch of 8x8 images with 16 channels. And JAX's own program for processors is a loop over the rounds of the
generator, Threefry. Each round reads and writes four arrays as large as the result. Here the rounds are written out, so
that all of them work on a number while it is in a register.
"""

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import JaxprEqn

from spmd._jax_internals import aval_of

# Threads share rows; those of a flat array take a fifth longer.
_ROWS = 8
_TYPES = {8: jnp.uint8, 16: jnp.uint16, 32: jnp.uint32}

# Positions that one word holds.
_MAX_COUNT = 2**32

# Constants of Threefry-2x32.
_PARITY = 0x1BD11BDA
_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)


@dataclasses.dataclass(frozen=True)
class RandomBits:
    """What `random_bits` draws.

    Attributes:
        shape: of the result.
        bits: number of bits of each of its elements.
    """

    shape: tuple[int, ...]
    bits: int

    @classmethod
    def of(cls, equation: JaxprEqn) -> "RandomBits":
        """Reads an operation's parameters."""
        return cls(tuple(equation.params["shape"]), equation.params["bit_width"])


def can_be_flat(equation: JaxprEqn) -> bool:
    """Tells whether a flat array has the bits of this operation."""
    draw, key = RandomBits.of(equation), aval_of(equation.invars[0])
    return math.prod(draw.shape) > 0 and draw.bits in _TYPES and by_position(key)


def by_position(key: jax.Array | ShapedArray) -> bool:
    """Tells whether numbers drawn with a key go by their positions alone, whatever the shape; for a key or its description."""
    options: Any = jax.config
    if not options.jax_threefry_partitionable:
        return False
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        return key.shape == () and str(key.dtype) == "key<fry>"
    words = (key.shape, key.dtype) == ((2,), np.uint32)
    return words and options.jax_default_prng_impl == "threefry2x32"


def flat_random_bits(draw: RandomBits, key: jax.Array) -> jax.Array:
    """Draws random bits in one or two dimensions.

    Args:
        draw: what is drawn.
        key: a typed key.

    Returns:
        The bits.
    """
    count = math.prod(draw.shape)
    shape = (count,) if count % _ROWS else (_ROWS, count // _ROWS)
    if count > _MAX_COUNT:
        return jax.random.bits(key, shape, _TYPES[draw.bits]).reshape(draw.shape)
    with set_xla_metadata(inlineable="false"):  # else each reader draws them again
        return _at_positions(jax.random.key_data(key), shape, draw)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _at_positions(words: jax.Array, shape: tuple[int, ...], draw: RandomBits) -> jax.Array:
    """Draws the bits for each position of an array, numbered row by row."""
    position = jnp.zeros(shape, jnp.uint32)
    for axis in range(len(shape)):
        steps = jax.lax.broadcasted_iota(jnp.uint32, shape, axis)
        position += steps * jnp.uint32(math.prod(shape[axis + 1 :]))
    first, second = _threefry(words[0], words[1], jnp.zeros_like(position), position)
    return (first ^ second).astype(_TYPES[draw.bits]).reshape(draw.shape)


def _threefry(
    key0: jax.Array, key1: jax.Array, first: jax.Array, second: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Encrypts pairs of words with a key of two words: Threefry-2x32 with 20 rounds.

    Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    keys = key0, key1, key0 ^ key1 ^ jnp.uint32(_PARITY)
    first, second = first + keys[0], second + keys[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            first += second
            second = (second << distance) | (second >> (32 - distance))
            second ^= first
        first += keys[(group + 1) % 3]
        second += keys[(group + 2) % 3] + jnp.uint32(group + 1)
    return first, second
