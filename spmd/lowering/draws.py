"""Random numbers of any shape, outside of steps, by a few compiled programs instead of one for each shape.

JAX compiles an eager operation for each shape. What draws random numbers takes longest: XLA unrolls loops over short
dimensions, and takes seconds for the few hundred numbers of a convolution's kernel. By default JAX draws each number from
the key and its position alone, so that those of a flat array are the same: one of a few sizes is drawn, and the host cuts
the shape out of it.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun
from jax.typing import ArrayLike, DTypeLike

from spmd._jax_internals import is_interposed, is_tracing
from spmd.lowering.cpu import for_cpu
from spmd.lowering.random_bits import by_position

# Powers of two that are the sizes of programs. With more numbers than the last these cost more than a program of their own.
_POWERS = (14, 18, 20, 22)

Sample: TypeAlias = Callable[..., jax.Array]

# Passed as arguments: XLA rounds differently where the limits are constants.
TRUNCATION = (-2.0, 2.0)


def host_draw(
    sample: Sample,
    key: jax.Array,
    shape: Sequence[int],
    dtype: DTypeLike = np.float32,
    *numbers: float,
) -> np.ndarray | None:
    """Draws numbers of a shape by a program that other shapes use, too.

    Args:
        sample: a function of a module, which draws numbers, each on its own, given a key, a shape and a dtype.
        key: typed, or two words.
        shape: of the result.
        dtype: of the result.
        numbers: further arguments of `sample`, such as limits.

    Returns:
        What `sample(key, shape, dtype, *numbers)` gives, on the host. None where it has to be called for this very shape: in a trace, of
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
    size = next((1 << power for power in _POWERS if count <= 1 << power), count)
    draw = _of_size(sample, size, next(iter(key.devices())).platform)
    return np.asarray(draw(key, *numbers))[:count].reshape(shape)


@functools.lru_cache(maxsize=64)
def _of_size(sample: Sample, size: int, platform: str) -> Callable[..., jax.Array]:
    """Makes the program of a size. JAX's own, on processors, takes twice as long to compile, and longer to run."""

    def draw(key: jax.Array, *numbers: jax.Array) -> jax.Array:
        def plain(key: jax.Array, *numbers: jax.Array) -> jax.Array:
            return sample(key, (size,), np.float32, *numbers)

        program = jax.make_jaxpr(plain)(key, *numbers)
        if platform == "cpu":
            program = for_cpu(program)
        return jaxpr_as_fun(program)(key, *numbers)[0]

    return jax.jit(draw)


def truncated_normal(
    key: jax.Array,
    shape: Sequence[int],
    dtype: DTypeLike,
    lower: ArrayLike = -2.0,
    upper: ArrayLike = 2.0,
) -> jax.Array:
    """Draws from a normal distribution, within two deviations: a `sample` of `host_draw`, with `TRUNCATION` for numbers."""
    return jax.random.truncated_normal(key, lower, upper, shape, dtype)


def scaled(drawn: np.ndarray, scale: ArrayLike, offset: ArrayLike) -> jax.Array:
    """Multiplies what `host_draw` gave, then adds: two roundings, as of two operations of JAX.

    Args:
        drawn: on the host.
        scale: a number, or an array of the host that broadcasts.
        offset: likewise.
    """
    factor, summand = (np.asarray(one, drawn.dtype) for one in (scale, offset))
    return jax.device_put(drawn * factor + summand)
