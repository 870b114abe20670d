"""Does padding count, and batches without any.

Whether a step leaves padding out cannot be read off its program for certain: it may ask which rows are
valid for one loss and not for another. It shows in what the step computes. Rows of padding hold
whatever they happen to hold, so with other rows in their place nothing may change.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.replica import PerReplica, RowLayout, RowMask, is_per_replica
from spmd.topology import layout_of

# Part of what a step changes in a variable that other padding may change too: sums in another order.
_TOLERANCE = 1e-5

# Numbers that are compared at once on the host.
_BLOCK = 2**20


def with_other_padding(array: jax.Array, mask: RowMask) -> jax.Array | None:
    """Puts other valid rows of a batch where its padding is.

    Args:
        array: the batch, of shape `(replicas * rows_per_replica, ...)`.
        mask: its valid rows.

    Returns:
        The array, or None if there is one valid row only.

    Examples:
        >>> import numpy as np, spmd
        >>> rows = np.arange(3.0, dtype=np.float32)
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> batches = spmd.distribute([np.zeros(4, np.float32), rows], mesh)
        >>> _, batch = batches
        >>> batch.array.tolist(), with_other_padding(batch.array, batch.mask).tolist()
        ([0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 2.0, 0.0])
    """
    valid = RowLayout(mask.counts, mask.rows_per_replica).mask
    (rows,), (padding,) = np.nonzero(valid), np.nonzero(~valid)
    if len(rows) < 2:
        return None
    index = np.arange(len(valid))
    index[padding] = rows[np.arange(len(padding)) % len(rows)]
    take = jax.jit(lambda array: array[jnp.asarray(index)], out_shardings=array.sharding)
    return take(array)


@jax.jit
def _with_zeros(rows: jax.Array, valid: jax.Array) -> jax.Array:
    shape = rows.shape[:2] + (1,) * (rows.ndim - 2)
    return jnp.where(valid.reshape(shape), rows, jnp.zeros_like(rows))


def valid_part(rows: jax.Array, mask: RowMask) -> jax.Array:
    """Puts zeros where a result has an entry for padding: there it may hold anything.

    Args:
        rows: of shape `(replicas, rows_per_replica, ...)`.
        mask: valid rows of the batch that they are of.
    """
    return _with_zeros(rows, mask.array)


def counted(
    names: Sequence[str],
    before: Sequence[Any],
    first: Sequence[jax.Array],
    again: Sequence[jax.Array],
    other: Sequence[jax.Array],
) -> list[str]:
    """Finds the values that change with the padding.

    Args:
        names: of the values.
        before: the variables before the step; None for a result.
        first: what the step computed.
        again: what it computed for the same batch once more: a device may sum in any order.
        other: what it computed with other padding.

    Returns:
        Names of those that differ by more than they do without a reason.
    """
    found: list[str] = []
    for name, old, a, b, c in zip(names, before, first, again, other, strict=True):
        if jnp.issubdtype(a.dtype, jax.dtypes.extended):
            a, b, c = map(jax.random.key_data, (a, b, c))
            old = None
        old = np.zeros(a.shape, a.dtype) if old is None else old
        distance = _on_host if all(map(_is_for_host, (old, a, b, c))) else _on_devices
        padding = distance(a, c)
        if padding == 0:
            continue
        epsilon = 16 * jnp.finfo(a.dtype).eps if jnp.issubdtype(a.dtype, jnp.inexact) else 0
        change = distance(a, old)
        if padding > max(10 * distance(a, b), max(_TOLERANCE, epsilon) * change):
            found.append(name)
    return found


def _is_for_host(array: jax.Array | np.ndarray[Any, Any]) -> bool:
    """Tells whether an array is read quickly, and all processes find the same in it."""
    if isinstance(array, np.ndarray):
        return True
    is_near = array.size <= _BLOCK or all(one.platform == "cpu" for one in array.devices())
    return is_near and (array.is_fully_addressable or array.is_fully_replicated)


def _on_host(x: jax.Array, y: jax.Array | np.ndarray[Any, Any]) -> float:
    """Computes the norm of a difference; infinite if only one is NaN somewhere.

    By NumPy: JAX would compile a program for each shape of a variable.
    """
    wide = jnp.promote_types(x.dtype, jnp.float32)
    ones, others = (np.asarray(array).reshape(-1) for array in (x, y))
    total = 0.0
    for start in range(0, len(ones), _BLOCK):
        one, other = (each[start : start + _BLOCK].astype(wide) for each in (ones, others))
        missing = np.isnan(one)
        if not np.array_equal(missing, np.isnan(other)):
            return math.inf
        with np.errstate(invalid="ignore", over="ignore"):  # inf - inf
            difference = np.abs(one - other)[~missing]
            total += float(np.square(difference.astype(np.float64)).sum())
    return math.sqrt(total)


@jax.jit
def _on_devices(x: jax.Array, y: jax.Array | np.ndarray[Any, Any]) -> jax.Array:
    """Computes what `_on_host` does, of arrays that are large and far away, or divided among processes."""
    wide = jnp.promote_types(x.dtype, jnp.float32)
    wrong = jnp.isnan(x) != jnp.isnan(y)
    difference = jnp.where(jnp.isnan(x) | jnp.isnan(y), 0, x.astype(wide) - y.astype(wide))
    return jnp.where(wrong.any(), jnp.inf, jnp.linalg.norm(jnp.abs(difference).reshape(-1)))


def without_padding(tree: Any) -> Any:
    """Cuts the padding off batches that have as many valid rows on every replica.

    Args:
        tree: pytree with `PerReplica` values; those with padding have to lie one block after the other.

    Returns:
        The pytree, or None if a batch in it has padding on some replicas only, or one without rows.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
        >>> batches = spmd.distribute([np.zeros(6, np.float32), np.arange(4.0)], mesh)
        >>> _, batch = batches
        >>> batch.array.tolist(), without_padding(batch).array.tolist()
        ([0.0, 1.0, 3.0, 2.0, 3.0, 3.0], [0.0, 1.0, 2.0, 3.0])
    """
    # By the ids of those that they are cut from: leaves of one batch share their mask.
    masks: dict[int, RowMask | None] = {}

    def cut(leaf: Any) -> Any:
        mask = leaf.mask if isinstance(leaf, PerReplica) else None
        if mask is None or not mask.padded:
            return leaf
        rows = mask.counts[0]
        if leaf.stacked or rows == 0 or len(set(mask.counts)) > 1:
            masks[id(mask)] = None
            return None
        if id(mask) not in masks:
            masks[id(mask)] = RowMask(_cut(mask.array, mask), mask.counts, rows)
        array = _cut(leaf.array, mask)
        return PerReplica(array, leaf.num_replicas, stacked=False, mask=masks[id(mask)])

    found = jax.tree.map(cut, tree, is_leaf=is_per_replica)
    return None if None in masks.values() else found


def _cut(array: jax.Array, mask: RowMask) -> jax.Array:
    replicas = len(mask.counts)
    mesh = PerReplica(array, replicas, stacked=False).mesh
    return _first_rows(mesh, replicas, mask.rows_per_replica, mask.counts[0])(array)


@functools.lru_cache(maxsize=16)
def _first_rows(
    mesh: jax.sharding.Mesh, replicas: int, block: int, count: int
) -> Callable[[jax.Array], jax.Array]:
    # Kept, as every epoch ends with such a batch: jax.jit knows again only the same function.
    def first_rows(array: jax.Array) -> jax.Array:
        blocks = array.reshape(replicas, block, *array.shape[1:])
        return blocks[:, :count].reshape(replicas * count, *array.shape[1:])

    return jax.jit(first_rows, out_shardings=layout_of(mesh).rows)
