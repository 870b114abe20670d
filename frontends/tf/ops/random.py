"""Random numbers from the global stream, eagerly and in compiled steps: `tf.random.normal` and its kin."""

from typing import SupportsIndex

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops import draws
from frontends.tf.ops.convert import static_shape
from frontends.tf.ops.map_stream import draws_initial_values, in_map, next_key
from frontends.tf.ops.random_stream import restart_stream, take_key
from frontends.tf.ops.seeds import (
    check_global_seed,
    key_words,
    op_entropy,
    set_global_seed,
)
from spmd.replica import in_replica, replica_id


def set_seed(seed: SupportsIndex | None) -> None:
    """Sets the global seed, and restarts the count of operations without a seed of their own.

    The seed belongs to the process, not to a thread. Call it first in a script: an operation that
    exists already keeps its numbers. `tf.random.normal` and its kin start over.

    Args:
        seed: An integer, or None to go back to different numbers in every run.

    Raises:
        TypeError: `seed` is neither an integer nor None.

    Examples:
        >>> from frontends.tf import random
        >>> from frontends.tf.data import Dataset
        >>> random.set_seed(7)
        >>> first = [int(x) for x in Dataset.range(5).shuffle(5)]
        >>> random.set_seed(7)
        >>> first == [int(x) for x in Dataset.range(5).shuffle(5)]
        True
        >>> random.set_seed(None)

    Source: ``tf.random.set_seed``.
    """
    set_global_seed(seed)
    restart_stream()


def normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = jnp.float32,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Draws from a normal distribution; see `tf.random.normal`."""
    return draws.normal_of(draw_key(seed), shape, mean, stddev, dtype)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = jnp.float32,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Draws from a normal distribution, within two deviations; see `tf.random.truncated_normal`."""
    return draws.truncated_of(draw_key(seed), shape, mean, stddev, dtype)


def uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: DTypeLike = jnp.float32,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Draws uniformly from an interval; see `tf.random.uniform`.

    Raises:
        ValueError: integers are to be drawn, and `maxval` is not given.
    """
    return draws.uniform_of(lambda: draw_key(seed), shape, minval, maxval, dtype)


def gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike = None,
    dtype: DTypeLike = jnp.float32,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Draws from gamma distributions: `shape` of each, which comes before the shape of their parameters.

    Args:
        shape: how many of each.
        alpha: shapes of the distributions.
        beta: inverse scales; None is 1.
        dtype: of the result.
        seed: of this operation.
    """
    held = jax_dtype(dtype)
    shapes, rates = jnp.broadcast_arrays(
        jnp.asarray(alpha, held), jnp.asarray(1 if beta is None else beta, held)
    )
    sizes = (*static_shape(shape), *shapes.shape)
    return jax.random.gamma(draw_key(seed), shapes, sizes, held) / rates


def poisson(
    shape: ShapeLike,
    lam: TensorLike,
    dtype: DTypeLike = jnp.float32,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Draws from Poisson distributions: `shape` of each, which comes before the shape of their rates.

    Args:
        shape: how many of each.
        lam: the rates.
        dtype: of the result.
        seed: of this operation.
    """
    rates = jnp.asarray(lam, jnp.float32)
    sizes = (*static_shape(shape), *rates.shape)
    return jax.random.poisson(draw_key(seed), rates, sizes).astype(jax_dtype(dtype))


def shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> jax.Array:
    """Shuffles an array along its first axis; see `tf.random.shuffle`."""
    return jax.random.permutation(draw_key(seed), jnp.asarray(value))


def categorical(
    logits: TensorLike,
    num_samples: int,
    dtype: DTypeLike = None,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Draws classes by their unnormalized log-probabilities; see `tf.random.categorical`.

    Raises:
        ValueError: `logits` is not a matrix.
    """
    return draws.categorical_of(lambda: draw_key(seed), logits, num_samples, dtype)


def draw_key(seed: int | None) -> jax.Array:
    """Takes a key from the stream, another one on each replica; with a seed, from one of its own."""
    if seed is None:
        check_global_seed()
    entropy = None if seed is None else op_entropy(seed, "random")
    if in_map():
        words, number = next_key(entropy)
    else:
        words, number = take_key()
        words = words if seed is None else key_words(entropy)
    data = jnp.asarray(words, jnp.uint32)
    key = jax.random.wrap_key_data(data, impl="threefry2x32")
    key = key if number is None else jax.random.fold_in(key, number)
    return (
        jax.random.fold_in(key, replica_id())
        if in_replica() and not draws_initial_values()
        else key
    )
