"""Random numbers of a key, in TensorFlow's forms: what `tf.random`, its stateless functions and generators share."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, static_int, static_shape


def normal_of(
    key: jax.Array, shape: ShapeLike, mean: TensorLike, stddev: TensorLike, dtype: DTypeLike
) -> jax.Array:
    """Draws from a normal distribution."""
    dtype = jax_dtype(dtype)
    drawn = jax.random.normal(key, static_shape(shape), dtype)
    return drawn * jnp.asarray(stddev, dtype) + jnp.asarray(mean, dtype)


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
    low, high = jnp.asarray(minval, dtype), jnp.asarray(1 if maxval is None else maxval, dtype)
    return jax.random.uniform(key(), sizes, dtype) * (high - low) + low


def truncated_of(
    key: jax.Array, shape: ShapeLike, mean: TensorLike, stddev: TensorLike, dtype: DTypeLike
) -> jax.Array:
    """Draws from a normal distribution, within two deviations."""
    dtype = jax_dtype(dtype)
    drawn = jax.random.truncated_normal(key, -2.0, 2.0, static_shape(shape), dtype)
    return drawn * jnp.asarray(stddev, dtype) + jnp.asarray(mean, dtype)


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
