"""`tf.compat.v1.assign` and its like: the methods of variables as functions."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from frontends.tf._typing import TensorLike, VariableLike
from frontends.tf.indexed_slices import IndexedSlices
from frontends.tf.ops.convert import convert_to_tensor, named


def assign(
    ref: VariableLike,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Replaces the value of a variable; in a model function once the result is fetched.

    Args:
        ref: a `tf.Variable`.
        value: of its shape.

    Returns:
        See `tf.Variable.assign`.

    Source: `tf.compat.v1.assign`.
    """
    return ref.assign(value)


def assign_add(
    ref: VariableLike, value: TensorLike, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Adds to the value of a variable; see `assign`.

    Source: `tf.compat.v1.assign_add`.
    """
    return ref.assign_add(value)


def assign_sub(
    ref: VariableLike, value: TensorLike, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtracts from the value of a variable; see `assign`.

    Source: `tf.compat.v1.assign_sub`.
    """
    return ref.assign_sub(value)


def _of_rows(method: str, summary: str) -> Callable[..., Any]:
    """Makes a function that updates some rows."""

    def update(
        ref: VariableLike,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        where, rows = convert_to_tensor(indices), convert_to_tensor(updates, ref.dtype)
        shape = tuple(ref.shape)[1:]
        # Indices have any shape, and one value serves for all rows.
        rows = jnp.broadcast_to(rows, (*where.shape, *shape)).reshape(-1, *shape)
        return getattr(ref, method)(IndexedSlices(rows, where.reshape(-1)))

    return named(
        method,
        f"""{summary}; see `tf.Variable.{method}`.

    Args:
        ref: a `tf.Variable`.
        indices: of the rows, of any shape.
        updates: a row for each, or one number for all.

    Source: `tf.compat.v1.{method}`.
    """,
        update,
    )


def _of_elements(method: str, summary: str) -> Callable[..., Any]:
    """Makes a function that updates some elements or slices."""

    def update(
        ref: VariableLike,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        return getattr(ref, method)(indices, updates)

    return named(
        method,
        f"""{summary}; see `tf.Variable.scatter_nd_update`.

    Source: `tf.compat.v1.{method}`.
    """,
        update,
    )


scatter_update = _of_rows("scatter_update", "Replaces some rows of a variable")
scatter_add = _of_rows("scatter_add", "Adds rows to some rows of a variable")
scatter_sub = _of_rows("scatter_sub", "Subtracts rows from some rows of a variable")
scatter_mul = _of_rows("scatter_mul", "Multiplies some rows of a variable by rows")
scatter_div = _of_rows("scatter_div", "Divides some rows of a variable by rows")
scatter_max = _of_rows("scatter_max", "Keeps the larger of old and new rows")
scatter_min = _of_rows("scatter_min", "Keeps the smaller of old and new rows")
scatter_nd_update = _of_elements("scatter_nd_update", "Replaces elements or slices of a variable")
scatter_nd_add = _of_elements("scatter_nd_add", "Adds to elements or slices of a variable")
scatter_nd_sub = _of_elements("scatter_nd_sub", "Subtracts from elements or slices of a variable")
