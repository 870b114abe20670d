"""Random numbers of any shape, outside of steps, by a few compiled programs instead of one for each shape.

JAX compiles an eager operation for each shape. What draws random numbers takes longest: XLA unrolls loops over short
dimensions, and takes seconds for the few hundred numbers of a convolution's kernel. By default JAX draws each number from
the key and its position alone, so that those of a flat array are the same: one of a few sizes is drawn, and the host cuts
the shape out of it.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.typing import ArrayLike, DTypeLike

from spmd._jax_internals import is_interposed, is_tracing

# A draw of 2**12 numbers takes no longer than one of fewer; above 2**22 the numbers cost more than the program.
_SMALLEST, _LARGEST = 12, 22


def host_draw(
    sample: Callable[[jax.Array, tuple[int, ...], DTypeLike], jax.Array],
    key: jax.Array,
    shape: Sequence[int],
    dtype: DTypeLike = np.float32,
) -> np.ndarray | None:
    """Draws numbers of a shape by a program that other shapes use, too.

    Args:
        sample: draws numbers, each on its own, given a key, a shape and a dtype.
        key: typed, or two words.
        shape: of the result.
        dtype: of the result.

    Returns:
        What `sample(key, shape, dtype)` gives, on the host. None where it has to be called for this very shape: in a trace, of
        narrow or wide types, or where numbers do not go by position.

    Examples:
        >>> key = jax.random.key(0)
        >>> drawn = host_draw(jax.random.normal, key, (3, 3, 8, 16))
        >>> bool((drawn == jax.random.normal(key, (3, 3, 8, 16))).all())
        True
    """
    if is_tracing() or is_interposed() or np.dtype(dtype) != np.float32 or not by_position(key):
        return None
    count = math.prod(shape)
    power = max(_SMALLEST, (count - 1).bit_length())
    power += power % 2  # each size has a program, so there are to be few
    size = count if power > _LARGEST else 1 << power
    return np.asarray(sample(key, (size,), np.float32))[:count].reshape(shape)


def truncated_normal(key: jax.Array, shape: Sequence[int], dtype: DTypeLike) -> jax.Array:
    """Draws from a normal distribution, within two deviations: a `sample` of `host_draw`."""
    return jax.random.truncated_normal(key, -2.0, 2.0, shape, dtype)


def scaled(drawn: np.ndarray, scale: ArrayLike, offset: ArrayLike) -> jax.Array:
    """Multiplies what `host_draw` gave, then adds: two roundings, as of two operations of JAX.

    Args:
        drawn: on the host.
        scale: a number, or an array of the host that broadcasts.
        offset: likewise.
    """
    factor, summand = (np.asarray(one, drawn.dtype) for one in (scale, offset))
    return jax.device_put(drawn * factor + summand)


def by_position(key: jax.Array | ShapedArray) -> bool:
    """Tells whether numbers drawn with a key go by their positions alone, whatever the shape; for a key or its description."""
    options: Any = jax.config
    if not options.jax_threefry_partitionable:
        return False
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        return key.shape == () and str(key.dtype) == "key<fry>"
    words = (key.shape, key.dtype) == ((2,), np.uint32)
    return words and options.jax_default_prng_impl == "threefry2x32"
