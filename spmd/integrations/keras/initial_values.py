"""Keras's random numbers and constants without a program for each shape; a model's weights have dozens of shapes.

Touches Keras internals, the modules `random` and `numpy` of `keras.src.backend.jax`, whose functions these wrap (see
`patches`).
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

from spmd._jax_internals import is_evaluating, is_interposed, is_tracing
from spmd.integrations.keras.typing import Method
from spmd.lowering import TRUNCATION, host_draw, scaled
from spmd.lowering import truncated_normal as sample_truncated


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
    drawn = _drawn(jax.random.normal, key, shape, dtype, mean, stddev)
    return own(shape, mean, stddev, dtype, key) if drawn is None else scaled(drawn, stddev, mean)


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
    drawn = _drawn(sample_truncated, key, shape, dtype, mean, stddev, limits=TRUNCATION)
    return own(shape, mean, stddev, dtype, key) if drawn is None else scaled(drawn, stddev, mean)


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
    drawn = _drawn(jax.random.uniform, key, shape, dtype, limits=(minval, maxval))
    if drawn is None:
        return own(shape, minval, maxval, dtype, key)
    return jax.device_put(drawn.copy())


def filled(
    number: float, own: Method, /, shape: Sequence[int], dtype: DTypeLike | None = None
) -> ArrayLike:
    """Wraps Keras's `zeros` and `ones`: the host makes the array, so nothing is compiled for this shape."""
    kind = jnp.dtype(dtype or keras.config.floatx())
    if not _is_shape(shape) or not is_evaluating() or kind.itemsize > 4:
        return own(shape, dtype)
    return jax.device_put(np.full(shape, number, kind))


def constant(
    own: Method, of: Any, /, shape: Sequence[int], dtype: DTypeLike | None = None
) -> ArrayLike:
    """Wraps the call of Keras's initializer `Constant`: the host makes the array of a number."""
    own_value = functools.partial(own, of)
    if not isinstance(of.value, int | float):
        return own_value(shape, dtype)
    return filled(of.value, own_value, shape, dtype)


def orthogonal(
    own: Method, of: Any, /, shape: Sequence[int], dtype: DTypeLike | None = None
) -> ArrayLike:
    """Wraps the call of Keras's initializer `Orthogonal`: one program in place of eight."""
    if not _is_shape(shape) or len(shape) < 2 or is_tracing() or is_interposed():
        return own(of, shape, dtype)
    rows, columns = math.prod(shape[:-1]), shape[-1]
    drawn = keras.random.normal((max(rows, columns), min(rows, columns)), seed=of.seed, dtype=dtype)
    return _orthogonal_columns(drawn, of.gain, tuple(shape))


@functools.partial(jax.jit, static_argnames="shape")
def _orthogonal_columns(drawn: jax.Array, gain: ArrayLike, shape: tuple[int, ...]) -> jax.Array:
    q, r = jnp.linalg.qr(drawn)
    q *= jnp.sign(jnp.diag(r))  # else the signs would not be drawn evenly
    columns = q.T if math.prod(shape[:-1]) < shape[-1] else q
    return jnp.multiply(gain, columns).reshape(shape)


def divide_no_nan(own: Method, x1: Any, x2: Any) -> ArrayLike:
    """Wraps Keras's `divide_no_nan`, with which metrics end: one program in place of three."""
    operands = (x1, x2)
    if is_tracing() or not all(isinstance(one, jax.Array) for one in operands):
        return own(*operands)
    return _compiled(own)(*operands)


@functools.cache
def _compiled(function: Method) -> Method:
    return jax.jit(function)


def _key(seed: Any) -> jax.Array:
    """Takes the next key of a generator, as Keras's own functions do first."""
    key: Any = keras_random.jax_draw_seed(seed)
    return key


def _drawn(
    sample: Callable[[jax.Array, tuple[int, ...], DTypeLike], jax.Array],
    key: jax.Array,
    shape: Sequence[int],
    dtype: DTypeLike | None,
    *numbers: Any,
    limits: tuple[Any, ...] = (),
) -> np.ndarray | None:
    numbers += limits
    if not _is_shape(shape) or not all(isinstance(number, int | float) for number in numbers):
        return None
    return host_draw(sample, key, shape, jnp.dtype(dtype or keras.config.floatx()), *limits)


def _is_shape(shape: Sequence[int]) -> bool:
    return isinstance(shape, list | tuple) and all(isinstance(size, int) for size in shape)
