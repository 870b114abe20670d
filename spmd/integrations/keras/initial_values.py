"""Random numbers and constants of any shape, by a few compiled programs instead of one for each shape.

A model's weights have dozens of shapes, and JAX compiles an eager operation for each. What draws random numbers is worst:
XLA unrolls loops over the short dimensions of a convolution's kernel, and takes seconds for a few hundred numbers. JAX
draws the same numbers whatever the shape: number `i` depends on the key and on `i`. So a flat array of one of a few sizes
is drawn, and the host cuts the shape out of it.

Touches Keras internals, the module `keras.src.backend.jax.random`, whose functions these wrap (see `patches`).
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax.typing import ArrayLike, DTypeLike
from keras.src.backend.jax import random as keras_random

from spmd._jax_internals import is_interposed, is_tracing
from spmd.integrations.keras.typing import Method

# A draw of 2**12 numbers takes no longer than one of fewer; above 2**22 the numbers cost more than the program.
_SMALLEST, _LARGEST = 12, 22
_Sample = Callable[[jax.Array, tuple[int]], jax.Array]


def normal(
    own: Method,
    /,
    shape: Sequence[int],
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: Any = None,
) -> ArrayLike:
    """Wraps Keras's `random.normal`: the same numbers, without a program for this shape."""
    key = _key(seed)
    if not _can_draw(key, shape, dtype, mean, stddev):
        return own(shape, mean, stddev, dtype, key)
    return _scaled(_drawn(jax.random.normal, key, shape), mean, stddev)


def truncated_normal(
    own: Method,
    /,
    shape: Sequence[int],
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: Any = None,
) -> ArrayLike:
    """Wraps Keras's `random.truncated_normal`: the same numbers, without a program for this shape."""
    key = _key(seed)
    if not _can_draw(key, shape, dtype, mean, stddev):
        return own(shape, mean, stddev, dtype, key)

    def sample(key: jax.Array, flat: tuple[int]) -> jax.Array:
        return jax.random.truncated_normal(key, -2.0, 2.0, flat)

    return _scaled(_drawn(sample, key, shape), mean, stddev)


def uniform(
    own: Method,
    /,
    shape: Sequence[int],
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: Any = None,
) -> ArrayLike:
    """Wraps Keras's `random.uniform`: the same numbers, without a program for this shape."""
    key = _key(seed)
    if not _can_draw(key, shape, dtype, minval, maxval):
        return own(shape, minval, maxval, dtype, key)
    sample = functools.partial(jax.random.uniform, minval=minval, maxval=maxval)
    return jax.device_put(_drawn(sample, key, shape).copy())


def filled(
    number: int, own: Method, /, shape: Sequence[int], dtype: DTypeLike | None = None
) -> ArrayLike:
    """Wraps Keras's `zeros` and `ones`: the host makes the array, so nothing is compiled for this shape."""
    kind = jnp.dtype(dtype or keras.config.floatx())
    if not _is_shape(shape) or is_tracing() or is_interposed() or kind.itemsize > 4:
        return own(shape, dtype)
    return jax.device_put(np.full(shape, number, kind))


def _key(seed: Any) -> jax.Array:
    """Takes the next key of a generator, as Keras's own functions do first."""
    key: Any = keras_random.jax_draw_seed(seed)
    return key


def _can_draw(key: jax.Array, shape: Sequence[int], dtype: DTypeLike | None, *numbers: Any) -> bool:
    """Tells whether a flat array has the same numbers; narrower types are drawn from other bits, and traces are left alone."""
    return (
        not (is_tracing() or is_interposed())
        and (key.shape, key.dtype) == ((2,), jnp.uint32)
        and _draws_by_position()
        and all(isinstance(number, int | float) for number in numbers)
        and jnp.dtype(dtype or keras.config.floatx()) == jnp.float32
        and _is_shape(shape)
        and 0 < math.prod(shape) <= 1 << _LARGEST
    )


def _draws_by_position() -> bool:
    """Tells whether JAX draws each number from the key and its position alone, as it does by default."""
    options: Any = jax.config
    return options.jax_default_prng_impl == "threefry2x32" and options.jax_threefry_partitionable


def _is_shape(shape: Sequence[int]) -> bool:
    return isinstance(shape, list | tuple) and all(isinstance(size, int) for size in shape)


def _drawn(sample: _Sample, key: jax.Array, shape: Sequence[int]) -> np.ndarray:
    count = math.prod(shape)
    power = max(_SMALLEST, (count - 1).bit_length())
    power += power % 2  # a size has a program, so there are to be few
    return np.asarray(sample(key, (1 << power,)))[:count].reshape(shape)


def _scaled(drawn: np.ndarray, mean: float, stddev: float) -> jax.Array:
    # Two roundings, as of Keras's two operations.
    return jax.device_put(drawn * np.float32(stddev) + np.float32(mean))
