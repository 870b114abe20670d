"""`tf.edit_distance`: how many changes make one sequence another."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.sparse.sparse_tensor import SparseTensor


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True, name: str | None = None
) -> jax.Array:
    """Counts how many entries are to be inserted, deleted or replaced, sequence by sequence, on the host.

    Args:
        hypothesis: the sequences to change, in the last axis; numbers or texts.
        truth: what they should be.
        normalize: whether to divide by the length of the true sequence; that of an empty one gives infinity, or 0 if
            both are empty.

    Returns:
        As many axes as the sequences stand in.

    Source: `tf.edit_distance`.
    """
    found, wanted = _sequences(hypothesis), _sequences(truth)
    shapes = [np.asarray(one.dense_shape)[:-1] for one in (hypothesis, truth)]
    made = np.zeros(np.maximum(*shapes), np.float32)
    for place in np.ndindex(made.shape):
        one, other = found.get(place, []), wanted.get(place, [])
        steps = float(_distance(one, other))
        if normalize:
            steps = steps / len(other) if other else (np.inf if one else 0.0)
        made[place] = steps
    return jnp.asarray(made)


def _sequences(sparse: SparseTensor) -> dict[tuple[int, ...], list[Any]]:
    rows: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(
        np.asarray(sparse.indices).tolist(), np.asarray(sparse.values).tolist(), strict=True
    ):
        rows.setdefault(tuple(place[:-1]), []).append(value)
    return rows


def _distance(one: list[Any], other: list[Any]) -> int:
    row = list(range(len(other) + 1))
    for number, entry in enumerate(one, 1):
        last, row[0] = row[0], number
        for place, wanted in enumerate(other, 1):
            changed = min(row[place] + 1, row[place - 1] + 1, last + (entry != wanted))
            last, row[place] = row[place], changed
    return row[-1]
