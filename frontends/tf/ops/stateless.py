"""Random numbers that depend on a seed alone: `tf.random.stateless_normal` and its kin. The bits are JAX's, not TensorFlow's."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops import draws
from frontends.tf.ops.convert import convert_to_tensor, static_int, static_shape


def stateless_normal(
    shape: ShapeLike,
    seed: Sequence[int],
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = jnp.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> jax.Array:
    """Draws the same numbers for the same seed; see `tf.random.stateless_normal`.

    The numbers are JAX's, not TensorFlow's.

    Source: `tf.random.stateless_normal`.
    """
    return draws.normal_of(draws.stateless_key(seed), shape, mean, stddev, dtype)


def stateless_uniform(
    shape: ShapeLike,
    seed: Sequence[int],
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: DTypeLike = jnp.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> jax.Array:
    """Draws the same numbers for the same seed; see `tf.random.stateless_uniform`.

    The numbers are JAX's, not TensorFlow's.

    Raises:
        ValueError: integers are to be drawn, and `maxval` is not given.

    Source: `tf.random.stateless_uniform`.
    """
    return draws.uniform_of(lambda: draws.stateless_key(seed), shape, minval, maxval, dtype)


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: Sequence[int],
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = jnp.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> jax.Array:
    """Draws from a normal distribution, within two deviations; see `stateless_normal`.

    Source: `tf.random.stateless_truncated_normal`.
    """
    return draws.truncated_of(draws.stateless_key(seed), shape, mean, stddev, dtype)


def stateless_parameterized_truncated_normal(
    shape: ShapeLike,
    seed: Sequence[int],
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> jax.Array:
    """Draws from normal distributions, within the bounds of each.

    Source: `tf.random.stateless_parameterized_truncated_normal`.
    """
    mean, deviation, low, high = (
        jnp.asarray(convert_to_tensor(one), jnp.float32)
        for one in (means, stddevs, minvals, maxvals)
    )
    drawn = jax.random.truncated_normal(
        draws.stateless_key(seed),
        (low - mean) / deviation,
        (high - mean) / deviation,
        static_shape(shape),
    )
    return drawn * deviation + mean


def stateless_categorical(
    logits: TensorLike,
    num_samples: int,
    seed: Sequence[int],
    dtype: DTypeLike = "int64",
    name: str | None = None,
    alg: str = "auto_select",
) -> jax.Array:
    """Draws classes by their unnormalized log-probabilities, a row of them for each row.

    Source: `tf.random.stateless_categorical`.
    """
    return draws.categorical_of(lambda: draws.stateless_key(seed), logits, num_samples, dtype)


def stateless_gamma(
    shape: ShapeLike,
    seed: Sequence[int],
    alpha: TensorLike,
    beta: TensorLike = None,
    dtype: DTypeLike = jnp.float32,
    name: str | None = None,
) -> jax.Array:
    """Draws from gamma distributions, whose parameters broadcast to the shape.

    Source: `tf.random.stateless_gamma`.
    """
    return draws.gamma_of(draws.stateless_key(seed), shape, alpha, beta, dtype)


def stateless_poisson(
    shape: ShapeLike,
    seed: Sequence[int],
    lam: TensorLike,
    dtype: DTypeLike = "int32",
    name: str | None = None,
) -> jax.Array:
    """Draws from Poisson distributions, whose rates broadcast to the shape.

    Source: `tf.random.stateless_poisson`.
    """
    return draws.poisson_of(draws.stateless_key(seed), shape, lam, dtype)


def stateless_binomial(
    shape: ShapeLike,
    seed: Sequence[int],
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = "int32",
    name: str | None = None,
) -> jax.Array:
    """Draws how many of `counts` trials succeed; the parameters broadcast to the shape.

    Source: `tf.random.stateless_binomial`.
    """
    return draws.binomial_of(draws.stateless_key(seed), shape, counts, probs, output_dtype)


def stateless_shuffle(
    value: TensorLike, seed: Sequence[int], alg: str = "auto_select", name: str | None = None
) -> jax.Array:
    """Shuffles an array along its first axis.

    Source: `tf.random.experimental.stateless_shuffle`.
    """
    return jax.random.permutation(draws.stateless_key(seed), convert_to_tensor(value))


def split(
    seed: Sequence[int], num: TensorLike = 2, alg: str = "auto_select", name: str | None = None
) -> jax.Array:
    """Makes seeds of a seed, shape (num, 2).

    Source: `tf.random.split`, `tf.random.experimental.stateless_split`.
    """
    own = convert_to_tensor(seed)
    made = jax.random.split(draws.stateless_key(seed), static_int(num))
    return _as_seed(made, own.dtype)


def fold_in(
    seed: Sequence[int], data: TensorLike, alg: str = "auto_select", name: str | None = None
) -> jax.Array:
    """Makes a seed of a seed and an integer.

    Source: `tf.random.fold_in`, `tf.random.experimental.stateless_fold_in`.
    """
    own = convert_to_tensor(seed)
    number = convert_to_tensor(data).astype(jnp.uint32)
    return _as_seed(jax.random.fold_in(draws.stateless_key(seed), number), own.dtype)


def _as_seed(key: jax.Array, dtype: DTypeLike) -> jax.Array:
    words = jax.random.key_data(key)
    held = jax_dtype(dtype)
    return words.astype(held) if held.itemsize > 4 else jax.lax.bitcast_convert_type(words, held)
