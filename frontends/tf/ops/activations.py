"""Functions of `tf.nn` about activations: their normalization, and kinds that JAX has not."""

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import convert_to_tensor


def crelu(features: TensorLike, axis: int = -1, name: str | None = None) -> jax.Array:
    """The positive part, and beside it along an axis that of the negative."""
    x = convert_to_tensor(features)
    return jax.nn.relu(jnp.concatenate([x, -x], axis))


def softsign(features: TensorLike, name: str | None = None) -> jax.Array:
    """`x / (1 + |x|)`."""
    return jax.nn.soft_sign(convert_to_tensor(features))


def zero_fraction(value: TensorLike, name: str | None = None) -> jax.Array:
    """The fraction of entries that are zero."""
    return jnp.mean(convert_to_tensor(value) == 0, dtype=jnp.float32)


def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: str | None = None,
) -> jax.Array:
    """Divides by `(bias + alpha * s)**beta`, where `s` adds up the squares of the channels within a radius."""
    x = convert_to_tensor(input)
    size = 2 * depth_radius + 1
    squares = jax.lax.reduce_window(
        jnp.square(x), 0.0, jax.lax.add, (*(1,) * (x.ndim - 1), size), (1,) * x.ndim, "SAME"
    )
    return x / (bias + alpha * squares) ** beta


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> jax.Array:
    """Cross entropy of independent probabilities and logits, in which positive labels weigh `pos_weight`."""
    x = convert_to_tensor(logits)
    z, weight = (jnp.asarray(convert_to_tensor(one), x.dtype) for one in (labels, pos_weight))
    factor = 1 + (weight - 1) * z
    return (1 - z) * x + factor * (jnp.log1p(jnp.exp(-jnp.abs(x))) + jax.nn.relu(-x))
