"""Which rows of a layer's input are data: those that fill up a replica's last batch are left out of statistics."""

import jax
import jax.numpy as jnp

from spmd.replica import current_frame, masks_of_length


def rows_of(values: jax.Array) -> jax.Array | None:
    """Tells which rows are data.

    Returns:
        Booleans, one for each row; None outside of steps, and if not exactly one batch of the step has so many rows.
    """
    frame = current_frame()
    if frame is None or not frame.masks or not values.ndim:
        return None
    fitting = masks_of_length(frame.masks, values.shape[0])
    return fitting[0].rows if len(fitting) == 1 else None


def beside(rows: jax.Array, values: jax.Array) -> jax.Array:
    """Gives booleans of rows as many axes as the values of these rows have."""
    return rows.reshape(-1, *[1] * (values.ndim - 1))


def without_padding(values: jax.Array) -> tuple[jax.Array, jax.Array | int]:
    """Makes zeros of rows that are no data, and counts the others, at least 1."""
    rows = rows_of(values)
    if rows is None:
        return values, values.shape[0] if values.ndim else 1
    return jnp.where(beside(rows, values), values, 0), jnp.maximum(rows.sum(), 1)
