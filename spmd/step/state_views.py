"""What a replica's code sees, and what is made of its state afterwards.

While a step is traced, the code of a replica gets its own block of every batch and its own view of
every variable: folded keys, a sum that only the first replica carries on (`state.Kind`). When it has
returned, the views of all replicas are made into one value again.
"""

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.errors import StepOutputError
from spmd.replica import (
    BlockMask,
    Frame,
    TracedPerReplica,
    has_rows,
    in_replica_of,
    is_per_replica,
    replica_axis,
)
from spmd.state import Kind, StateTable
from spmd.step.arguments import is_thing


def run_in_replicas(frame: Frame, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Runs a function as one replica, inside a step that is being traced.

    Args:
        frame: of the step.
        function: one replica's function.
        args: positional arguments; a `TracedPerReplica` leaf becomes its block.
        kwargs: keyword arguments, likewise.

    Returns:
        The function's result; every leaf is a `TracedPerReplica`.

    Raises:
        ReplicaContextError: the code is in a replica already.
        StepOutputError: a leaf of the result is not an array.
    """
    masks: dict[int, tuple[jax.Array, list[Any], int | None]] = {}
    for leaf in jax.tree.leaves((args, kwargs), is_leaf=_is_argument):
        if is_block(leaf) and leaf.mask is not None:
            masks.setdefault(id(leaf.mask), (leaf.mask, [], leaf.source))[1].append(leaf.block)
    local_args, local_kwargs = jax.tree.map(
        lambda leaf: leaf.block if is_block(leaf) else leaf,
        (args, kwargs),
        is_leaf=_is_argument,
    )
    blocks = [BlockMask(mask, tuple(leaves)) for mask, leaves, _ in masks.values()]
    with in_replica_of(frame, blocks):
        out = function(*local_args, **local_kwargs)
    name = getattr(function, "__name__", "step")

    def wrap(path: Any, leaf: Any) -> TracedPerReplica:
        value = as_array(leaf, path, name)
        for mask, _, source in masks.values():
            # One entry for each row of the batch: its valid rows are the batch's.
            if value.ndim and value.shape[0] == mask.shape[0] and frame.may_be_rows():
                frame.rows.append(True)
                return TracedPerReplica(value, mask, source)
        frame.rows.append(False)
        return TracedPerReplica(value)

    return jax.tree_util.tree_map_with_path(wrap, out, is_leaf=is_per_replica)


@contextlib.contextmanager
def replica_state(table: StateTable, masks: Sequence[BlockMask], frame: Frame) -> Generator[None]:
    """Gives one replica its view of the state, and makes the state whole again afterwards."""
    before = table.read()
    kinds = table.kinds
    first = _axis_index() == 0
    entry = list(before)
    for index, kind in enumerate(kinds):
        if kind is Kind.KEY:
            entry[index] = fold_key(before[index])
        elif kind is Kind.SUM:
            # The first replica carries the sum so far, the others start from nothing.
            entry[index] = jnp.where(first, before[index], jnp.zeros_like(before[index]))
    table.write(entry)
    with table.in_replica():
        yield
    after = table.read()
    for index, kind in enumerate(kinds):
        if after[index] is entry[index] or index in frame.known_keys:
            after[index] = before[index]
        elif kind is Kind.KEY:
            frame.keys.append((index, entry[index], after[index]))
        elif kind is Kind.SUM:
            after[index] = jax.lax.psum(after[index], replica_axis())
        elif kind is Kind.MEAN:
            after[index] = _mean(after[index], masks)
    table.write(after)


def _axis_index() -> jax.Array:
    # replica_id() asks the frame, which is not in a replica yet when this is called.
    return jax.lax.axis_index(replica_axis())


def fold_key(key: jax.Array) -> jax.Array:
    """Makes random keys, typed or not, those of the replica that runs this code."""
    replica = _axis_index()
    typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)

    def fold(one: jax.Array) -> jax.Array:
        return jax.random.fold_in(one, replica)

    for _ in range(key.ndim if typed else key.ndim - 1):
        fold = jax.vmap(fold)
    return fold(key)


def _mean(value: jax.Array, masks: Sequence[BlockMask]) -> jax.Array:
    """Averages over the replicas that saw data."""
    rows = has_rows(masks)
    seen = jnp.ones((), jnp.float32) if rows is None else rows.astype(jnp.float32)
    wide = value.astype(jnp.promote_types(value.dtype, jnp.float32))
    total, count = jax.lax.psum((jnp.where(seen > 0, wide, 0), seen), replica_axis())
    return (total / jnp.maximum(count, 1)).astype(value.dtype)


def as_array(leaf: Any, path: Any, name: str) -> jax.Array:
    """Makes an array of a leaf that a step returned.

    Args:
        leaf: what was returned.
        path: to the leaf in the result.
        name: of the step.

    Raises:
        StepOutputError: it is no array and no number.
    """
    if not isinstance(leaf, jax.Array) and hasattr(leaf, "__jax_array__"):
        leaf = leaf.__jax_array__()  # a variable stands for its value
    numeric = isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "biufcV"
    if isinstance(leaf, (jax.Array, bool, int, float, complex)) or numeric:
        return jnp.asarray(leaf)
    where = jax.tree_util.keystr(path)
    raise StepOutputError(
        f"The step {name!r} returned {leaf!r} of type {type(leaf).__name__}"
        + (f" at {where}" if where else "")
        + ", but a compiled step can return only arrays, numbers, None and containers of them. "
        "Return the array behind it, or keep the object outside of the step."
    )


def is_block(value: Any) -> bool:
    """Tells whether a value is a per-replica value inside of a trace."""
    return isinstance(value, TracedPerReplica)


def _is_argument(value: Any) -> bool:
    # Objects with state are passed on as they are: taken apart and put together, they were copies.
    return is_per_replica(value) or is_thing(value)
