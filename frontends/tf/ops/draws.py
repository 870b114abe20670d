"""Random numbers of a key, in TensorFlow's forms: what `tf.random`, its stateless functions and generators share."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, static_int, static_shape
from spmd.lowering import TRUNCATION, host_draw, scaled, truncated_normal

_NUMBER = int | float | np.ndarray | np.number


def normal_of(
    key: jax.Array, shape: ShapeLike, mean: TensorLike, stddev: TensorLike, dtype: DTypeLike
) -> jax.Array:
    """Draws from a normal distribution."""
    return _scaled(_drawn(jax.random.normal, key, shape, dtype), stddev, mean)


def uniform_of(
    key: Callable[[], jax.Array],
    shape: ShapeLike,
    minval: TensorLike,
    maxval: TensorLike,
    dtype: DTypeLike,
) -> jax.Array:
    """Draws uniformly; a call that fails takes no key from the stream.

    Raises:
        ValueError: integers are to be drawn, and `maxval` is not given.
    """
    dtype, sizes = jax_dtype(dtype), static_shape(shape)
    if jnp.issubdtype(dtype, jnp.integer):
        if maxval is None:
            raise ValueError(
                f"Must specify maxval for integer dtype {dtype.name}: "
                "tf.random.uniform([2], maxval=10, dtype=tf.int32)."
            )
        low, high = jnp.asarray(minval), jnp.asarray(maxval)
        return jax.random.randint(key(), sizes, low, high, dtype)
    high = 1 if maxval is None else maxval
    if all(isinstance(bound, int | float) for bound in (minval, high)):
        scale: TensorLike = np.asarray(high, dtype) - np.asarray(minval, dtype)
    else:
        scale = jnp.asarray(high, dtype) - jnp.asarray(minval, dtype)
    return _scaled(_drawn(jax.random.uniform, key(), sizes, dtype), scale, minval)


def truncated_of(
    key: jax.Array, shape: ShapeLike, mean: TensorLike, stddev: TensorLike, dtype: DTypeLike
) -> jax.Array:
    """Draws from a normal distribution, within two deviations."""
    return _scaled(_drawn(truncated_normal, key, shape, dtype, *TRUNCATION), stddev, mean)


def _drawn(
    sample: Callable[..., jax.Array],
    key: jax.Array,
    shape: ShapeLike,
    dtype: DTypeLike,
    *numbers: float,
) -> jax.Array | np.ndarray:
    """Draws numbers; outside of steps the host gets them, so that nothing is compiled for this shape."""
    sizes, dtype = static_shape(shape), jax_dtype(dtype)
    drawn = host_draw(sample, key, sizes, dtype, *numbers)
    return sample(key, sizes, dtype, *numbers) if drawn is None else drawn


def _scaled(drawn: jax.Array | np.ndarray, scale: TensorLike, offset: TensorLike) -> jax.Array:
    if isinstance(drawn, np.ndarray) and isinstance(scale, _NUMBER) and isinstance(offset, _NUMBER):
        return scaled(drawn, scale, offset)
    return jnp.asarray(drawn) * jnp.asarray(scale, drawn.dtype) + jnp.asarray(offset, drawn.dtype)


def full_int_of(key: jax.Array, shape: ShapeLike, dtype: DTypeLike) -> jax.Array:
    """Draws integers from all that a dtype has."""
    target = jax_dtype(dtype)
    unsigned = jnp.dtype(f"uint{target.itemsize * 8}")
    bits = jax.random.bits(key, static_shape(shape), unsigned)
    return jax.lax.bitcast_convert_type(bits, target)


def binomial_of(
    key: jax.Array, shape: ShapeLike, counts: TensorLike, probs: TensorLike, dtype: DTypeLike
) -> jax.Array:
    """Draws how many of `counts` trials succeed."""
    trials, share = (jnp.asarray(convert_to_tensor(one), jnp.float32) for one in (counts, probs))
    drawn = jax.random.binomial(key, trials, share, static_shape(shape))
    return drawn.astype(jax_dtype(dtype))


def joint_shape(*parameters: TensorLike) -> tuple[int, ...]:
    """The shape that parameters of a distribution broadcast to."""
    return np.broadcast_shapes(*(convert_to_tensor(one).shape for one in parameters))


def gamma_of(
    key: jax.Array, shape: ShapeLike, alpha: TensorLike, beta: TensorLike, dtype: DTypeLike
) -> jax.Array:
    """Draws from gamma distributions of shapes `alpha` and rates `beta`; None means 1."""
    target = jax_dtype(dtype)
    drawn = jax.random.gamma(key, jnp.asarray(alpha, target), static_shape(shape), target)
    return drawn if beta is None else drawn / jnp.asarray(beta, target)


def poisson_of(key: jax.Array, shape: ShapeLike, lam: TensorLike, dtype: DTypeLike) -> jax.Array:
    """Draws from Poisson distributions."""
    drawn = jax.random.poisson(key, jnp.asarray(lam, jnp.float32), static_shape(shape))
    return drawn.astype(jax_dtype(dtype))


def categorical_of(
    key: Callable[[], jax.Array], logits: TensorLike, num_samples: TensorLike, dtype: DTypeLike
) -> jax.Array:
    """Draws classes by their unnormalized log-probabilities, a row of them for each row.

    Raises:
        ValueError: `logits` is no matrix.
    """
    scores = jnp.asarray(logits)
    if scores.ndim != 2:
        raise ValueError(f"logits should be a matrix, got shape {scores.shape}.")
    shape = (static_int(num_samples), scores.shape[0])
    drawn = jax.random.categorical(key(), scores, axis=-1, shape=shape).T
    return drawn.astype(jax_dtype("int64" if dtype is None else dtype))


def stateless_key(seed: Any) -> jax.Array:
    """Makes a key of two integers."""
    words = convert_to_tensor(seed).astype(jnp.uint32)
    return jax.random.wrap_key_data(words, impl="threefry2x32")
