"""Functions of `tf.nn` about means and variances, and losses that need no labels of classes."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import Axis, ShapeLike, TensorLike
from frontends.tf.ops.convert import convert_to_tensor, static_axes, static_shape
from frontends.tf.ops.nn import batch_normalization
from frontends.tf.ops.stateless import stateless_uniform


def sufficient_statistics(
    x: TensorLike,
    axes: Axis,
    shift: TensorLike = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array | None]:
    """What `normalize_moments` needs: a count, a sum, a sum of squares and the shift.

    Source: `tf.nn.sufficient_statistics`.
    """
    numbers, over = convert_to_tensor(x), static_axes(axes)
    by = None if shift is None else convert_to_tensor(shift)
    moved = numbers if by is None else numbers - by
    total = jnp.sum(moved, axis=over, keepdims=keepdims)
    squares = jnp.sum(jnp.square(moved), axis=over, keepdims=keepdims)
    count = numbers.size // max(total.size, 1)
    return jnp.asarray(count, numbers.dtype), total, squares, by


def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike,
    name: str | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Mean and variance of what `sufficient_statistics` returned.

    Source: `tf.nn.normalize_moments`.
    """
    share = 1 / convert_to_tensor(counts)
    moved = convert_to_tensor(mean_ss) * share
    mean = moved if shift is None else moved + convert_to_tensor(shift)
    return mean, convert_to_tensor(variance_ss) * share - jnp.square(moved)


def weighted_moments(
    x: TensorLike,
    axes: Axis,
    frequency_weights: TensorLike,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Mean and variance of numbers that weigh differently.

    Source: `tf.nn.weighted_moments`.
    """
    numbers, over = convert_to_tensor(x), static_axes(axes)
    weights = jnp.broadcast_to(
        convert_to_tensor(frequency_weights).astype(numbers.dtype), numbers.shape
    )
    total = jnp.sum(weights, axis=over, keepdims=True)
    mean = jnp.sum(weights * numbers, axis=over, keepdims=True) / total
    variance = jnp.sum(weights * jnp.square(numbers - mean), axis=over, keepdims=True) / total
    if keepdims:
        return mean, variance
    return jnp.squeeze(mean, over), jnp.squeeze(variance, over)


def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> jax.Array:
    """Normalizes as `tf.nn.batch_normalization` does; `gamma` counts if it is to scale.

    Source: `tf.nn.batch_norm_with_global_normalization`.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> jax.Array:
    """The loss of counts by the logarithms of their expected values, one number an entry.

    Args:
        targets: counts.
        log_input: logarithms of what was expected.
        compute_full_loss: whether to add Stirling's approximation of what does not depend on `log_input`.

    Source: `tf.nn.log_poisson_loss`.
    """
    x = convert_to_tensor(log_input)
    z = jnp.asarray(convert_to_tensor(targets), x.dtype)
    loss = jnp.exp(x) - z * x
    if not compute_full_loss:
        return loss
    inner = jnp.where(z > 0, z, 1)
    constant = z * jnp.log(inner) - z + 0.5 * jnp.log(2 * math.pi * inner)
    return loss + jnp.where((z >= 0) & (z <= 1), 0, constant)


def stateless_dropout(
    x: TensorLike,
    rate: float,
    seed: TensorLike,
    rng_alg: str = "auto_select",
    noise_shape: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Zeroes a fraction of the elements, the same for the same seed, and scales up the rest.

    The bits are JAX's, not TensorFlow's.

    Args:
        x: numbers.
        rate: the fraction, in [0, 1).
        seed: two integers.
        rng_alg: accepted, and not used: JAX has the one algorithm.
        noise_shape: what is drawn, and broadcasts to `x`; None is its shape.

    Raises:
        ValueError: `rate` is out of range.

    Source: `tf.nn.experimental.stateless_dropout`.
    """
    return _dropped(x, rate, noise_shape, lambda shape: stateless_uniform(shape, seed))


def general_dropout(
    x: TensorLike,
    rate: float,
    uniform_sampler: Any,
    noise_shape: ShapeLike = None,
    name: str | None = None,
) -> jax.Array:
    """Zeroes a fraction of the elements, by numbers that a function draws: `uniform_sampler(shape, dtype=...)`.

    Source: `tf.nn.experimental.general_dropout`.
    """
    x = convert_to_tensor(x)
    return _dropped(x, rate, noise_shape, lambda shape: uniform_sampler(shape=shape, dtype=x.dtype))


def _dropped(x: TensorLike, rate: float, noise_shape: ShapeLike, draw: Any) -> jax.Array:
    if not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar in the range [0, 1). Received: rate={rate}.")
    values = convert_to_tensor(x)
    asked = values.shape if noise_shape is None else noise_shape
    pairs = zip(values.shape, asked, strict=True)
    shape = static_shape([own if size is None else size for own, size in pairs])
    kept = convert_to_tensor(draw(shape)) >= rate
    return jnp.where(kept, values / (1 - rate), jnp.zeros_like(values))
