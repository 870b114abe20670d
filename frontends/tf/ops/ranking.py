"""Functions of `tf.*` and `tf.math` that order entries or count them: sorting, largest entries, confusion."""

from collections.abc import Callable
from typing import Any, NamedTuple, SupportsInt

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import cast, jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, named, static_int


class TopK(NamedTuple):
    """What `tf.math.top_k` returns.

    Attributes:
        values: the largest numbers.
        indices: where they were, int32.
    """

    values: jax.Array
    indices: jax.Array


def _position_of(name: str, function: Callable[..., jax.Array], entries: str) -> Callable[..., Any]:
    """Makes a function that finds one entry along an axis."""

    def find(
        input: TensorLike,
        axis: SupportsInt | None = None,
        output_type: DTypeLike = "int64",
        name: str | None = None,
    ) -> jax.Array:
        found = function(convert_to_tensor(input), 0 if axis is None else static_int(axis))
        return cast(found, output_type)

    doc = f"Finds the {entries} along an axis, which is 0 if it is not given (NumPy: all axes)."
    return named(name, doc, find)


argmax = _position_of("argmax", jnp.argmax, "largest entries")
argmin = _position_of("argmin", jnp.argmin, "smallest entries")


def sort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> jax.Array:
    """Sorts along an axis."""
    return jnp.sort(convert_to_tensor(values), axis=axis, descending=_descending(direction))


def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Finds the order that sorts along an axis; it is stable always."""
    order = jnp.argsort(convert_to_tensor(values), axis=axis, descending=_descending(direction))
    return order.astype(jnp.int32)


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f'direction must be "ASCENDING" or "DESCENDING", got {direction!r}.')
    return direction == "DESCENDING"


def top_k(
    input: TensorLike,
    k: int = 1,
    sorted: bool = True,
    index_type: DTypeLike = "int32",
    name: str | None = None,
) -> TopK:
    """Finds the k largest entries of the last axis, in order."""
    values, indices = jax.lax.top_k(convert_to_tensor(input), static_int(k))
    return TopK(values, cast(indices, index_type))


def in_top_k(
    targets: TensorLike, predictions: TensorLike, k: int, name: str | None = None
) -> jax.Array:
    """Tells for each row whether its target's entry is finite and fewer than k entries are larger.

    The first two may come in TensorFlow 1's order, too: predictions are a matrix, and targets are none.
    """
    scores = convert_to_tensor(predictions)
    rows = convert_to_tensor(targets)
    if rows.ndim == 2 and scores.ndim == 1:
        scores, rows = rows, scores
    mine = jnp.take_along_axis(scores, rows[:, None], axis=1)
    return (rows >= 0) & jnp.isfinite(mine[:, 0]) & (jnp.sum(scores > mine, axis=1) < k)


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int | None = None,
    weights: TensorLike = None,
    dtype: DTypeLike = "int32",
    name: str | None = None,
) -> jax.Array:
    """Counts predictions (columns) of labels (rows); in a program, `num_classes` must be given."""
    rows, columns = convert_to_tensor(labels).ravel(), convert_to_tensor(predictions).ravel()
    if num_classes is None:
        num_classes = int(jnp.maximum(rows.max(), columns.max())) + 1
    counts = jnp.zeros((int(num_classes), int(num_classes)), jax_dtype(dtype))
    each = 1 if weights is None else cast(convert_to_tensor(weights).ravel(), dtype)
    return counts.at[rows, columns].add(each)
