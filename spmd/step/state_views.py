"""What a replica's code sees, and what is made of its state afterwards.

While a step is traced, the code of a replica gets its own block of every batch and its own view of
every variable: folded keys, a sum that only the first replica carries on (`state.Kind`). When it has
returned, the views of all replicas are made into one value again.
"""

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

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
from spmd.step.arguments import is_stateful
from spmd.step.random_keys import returned_key
from spmd.typing import ArrayLike, PyTree

T = TypeVar("T")

# JAX keeps traces of functions that a step passes to jit, scan or checkpoint. They hold traced values of
# the state, so a trace of one program must not be taken for one of another.
trace_identity = jax.make_user_context()


def run_in_replicas(
    frame: Frame, function: Callable[..., PyTree], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> PyTree:
    """Runs a function as one replica, inside a step that is being traced.

    The function is called once; and once more, for its shapes only, if a result may have an entry for each
    row of a batch.

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
    masks: dict[int, tuple[jax.Array, list[jax.Array], int | None]] = {}
    for leaf in jax.tree.leaves((args, kwargs), is_leaf=_is_argument):
        if is_block(leaf) and leaf.mask is not None:
            masks.setdefault(id(leaf.mask), (leaf.mask, [], leaf.source))[1].append(leaf.block)
    local_args, local_kwargs = _blocks_of(args), _blocks_of(kwargs)
    blocks = [BlockMask(mask, tuple(leaves)) for mask, leaves, _ in masks.values()]
    with in_replica_of(frame, blocks):
        out = function(*local_args, **local_kwargs)
    paths, structure = jax.tree_util.tree_flatten_with_path(out, is_leaf=is_per_replica)
    values = [as_array(leaf, path, _name_of(function)) for path, leaf in paths]
    # One entry for each row of the batch: its valid rows are the batch's.
    found = [
        next(((m, source) for m, _, source in masks.values() if _as_long(value, m)), None)
        for value in values
    ]
    if any(found) and not frame.building:
        longer = _with_a_row_more(frame, function, args, kwargs)
        if longer is not None and len(longer) == len(values):
            found = [
                mask if mask is not None and _as_long(more, mask[0], 1) else None
                for mask, more in zip(found, longer, strict=True)
            ]
    return structure.unflatten(
        TracedPerReplica(value) if mask is None else TracedPerReplica(value, *mask)
        for value, mask in zip(values, found, strict=True)
    )


def _with_a_row_more(
    frame: Frame, function: Callable[..., PyTree], args: PyTree, kwargs: PyTree
) -> list[jax.ShapeDtypeStruct] | None:
    """Calls a replica's function once more, for blocks of one row more, to see which results get longer.

    A result that is as long as a block has rows may have so many entries by chance.

    Returns:
        The results' shapes, or None if the function works for this number of rows only; then their
        length is all there is to go by.
    """
    leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=_is_argument)
    at = [index for index, leaf in enumerate(leaves) if is_block(leaf) and leaf.mask is not None]
    # Leaves of one batch share their mask, by which a replica tells batches apart.
    masks = {id(leaves[index].mask): leaves[index].mask for index in at}
    table = frame.table
    assert isinstance(table, StateTable)

    def longer(state: list[jax.Array], rows: list[jax.Array], valid: list[jax.Array]) -> PyTree:
        mask_of = dict(zip(masks, valid, strict=True))
        batch = list(leaves)
        for index, block in zip(at, rows, strict=True):
            mask, source = mask_of[id(leaves[index].mask)], leaves[index].source
            batch[index] = TracedPerReplica(block, mask, source)
        of_mask = [
            BlockMask(mask, tuple(b.block for b in batch if is_block(b) and b.mask is mask))
            for mask in valid
        ]
        local_args, local_kwargs = _blocks_of(structure.unflatten(batch))
        with table.lifted(state), in_replica_of(frame, of_mask):
            out = function(*local_args, **local_kwargs)
            paths = jax.tree_util.tree_leaves_with_path(out, is_leaf=is_per_replica)
            return [as_array(leaf, path, _name_of(function)) for path, leaf in paths]

    sums, made = frame.sums, list(frame.made)
    try:
        with trace_identity(object()):
            return jax.eval_shape(
                longer,
                table.read(),
                [_one_longer(leaves[index].block) for index in at],
                list(map(_one_longer, masks.values())),
            )
    except Exception:
        return None
    finally:
        for _, leave in frame.made[len(made) :]:
            leave()
        frame.sums, frame.made[:] = sums, made


def _one_longer(array: jax.Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((array.shape[0] + 1, *array.shape[1:]), array.dtype)


def _as_long(value: jax.Array | jax.ShapeDtypeStruct, mask: jax.Array, more: int = 0) -> bool:
    return bool(value.ndim) and value.shape[0] == mask.shape[0] + more


def _blocks_of(tree: T) -> T:
    """Gives a replica its block of what is split, and all of the rest."""
    return jax.tree.map(
        lambda leaf: leaf.block if is_block(leaf) else leaf, tree, is_leaf=_is_argument
    )


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "step")


@contextlib.contextmanager
def replica_state(table: StateTable, masks: Sequence[BlockMask]) -> Generator[None]:
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
        if after[index] is entry[index]:
            after[index] = before[index]
        elif kind is Kind.KEY:
            after[index] = returned_key(before[index], entry[index], after[index])
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


def as_array(leaf: ArrayLike, path: tuple[Any, ...], name: str) -> jax.Array:
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


def is_block(value: object) -> TypeGuard[TracedPerReplica]:
    """Tells whether a value is a per-replica value inside a trace."""
    return isinstance(value, TracedPerReplica)


def _is_argument(value: object) -> bool:
    # Objects with state are passed on as they are: taken apart and put together, they would be copies.
    return is_per_replica(value) or is_stateful(value)
