"""`tf.reverse_sequence`: the first entries of each row, in the other order."""

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import convert_to_tensor


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Reverses the first entries of each row, and leaves the others.

    Args:
        input: of any shape.
        seq_lengths: how many entries of each row.
        seq_axis: along which; None means 0.
        batch_axis: of the rows; None means 0.

    Source: `tf.reverse_sequence`.
    """
    x, along, of_rows = convert_to_tensor(input), seq_axis or 0, batch_axis or 0
    lengths = convert_to_tensor(seq_lengths)[:, None]
    places = jnp.arange(x.shape[along])[None]
    sources = jnp.where(places < lengths, lengths - 1 - places, places)
    rows = jnp.moveaxis(x, (of_rows, along), (0, 1))
    turned = jnp.take_along_axis(rows, sources.reshape(*sources.shape, *[1] * (x.ndim - 2)), axis=1)
    return jnp.moveaxis(turned, (0, 1), (of_rows, along))
