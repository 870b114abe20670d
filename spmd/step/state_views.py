"""What a replica's code sees, and what is made of its state afterwards.

While a step is traced, the code of a replica gets its own block of every batch and its own view of
every variable: folded keys, a sum that only the first replica carries on (`state.Kind`). When it has
returned, the views of all replicas are made into one value again.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp

from spmd.errors import StateError, StepOutputError
from spmd.replica import (
    BlockMask,
    Frame,
    TracedPerReplica,
    axis_index,
    axis_size,
    has_rows,
    in_replica_of,
    is_per_replica,
    masks_of_length,
    replica_axis,
)
from spmd.state import Kind, Recorder, StateTable, recording
from spmd.step.arguments import is_argument, is_numeric
from spmd.step.constants import with_constants
from spmd.step.random_keys import returned_key
from spmd.typing import ArrayLike, PyTree, TreeStructure

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
    leaves, structure = jax.tree.flatten((tuple(args), dict(kwargs)), is_leaf=is_argument)
    masks, values, result = _call(frame, function, structure, leaves)
    # One entry for each row of the batch: its valid rows are the batch's.
    owners = [_first_of_length(masks, value) for value in values]
    may_have_rows = any(owner is not None for owner in owners) and frame.turns is None
    if may_have_rows and frame.is_first and frame.made:
        frame.has_unsure_rows = True
    elif may_have_rows and not frame.building:
        longer = _with_a_row_more(frame, function, structure, leaves)
        if longer is not None and len(longer) == len(values):
            owners = [
                owner if owner is not None and more.shape[:1] == (len(value) + 1,) else None
                for owner, value, more in zip(owners, values, longer, strict=True)
            ]
    sources = {id(leaf.mask): leaf.source for leaf in leaves if _has_rows(leaf)}
    return result.unflatten(
        TracedPerReplica(value)
        if owner is None
        else TracedPerReplica(value, owner.rows, sources[id(owner.rows)])
        for value, owner in zip(values, owners, strict=True)
    )


def _call(
    frame: Frame, function: Callable[..., PyTree], structure: TreeStructure, leaves: Sequence[Any]
) -> tuple[list[BlockMask], list[jax.Array], TreeStructure]:
    """Calls a replica's function with its block of what is split, and all of the rest.

    Returns:
        The masks of its blocks; the leaves and the structure of its result.
    """
    blocks_of: dict[int, tuple[jax.Array, list[jax.Array]]] = {}
    for leaf in filter(_has_rows, leaves):
        blocks_of.setdefault(id(leaf.mask), (leaf.mask, []))[1].append(leaf.block)
    masks = [BlockMask(mask, tuple(blocks)) for mask, blocks in blocks_of.values()]
    args, kwargs = structure.unflatten(
        leaf.block if isinstance(leaf, TracedPerReplica) else leaf for leaf in leaves
    )
    with in_replica_of(frame, masks):
        out = function(*args, **kwargs)
    paths, result = jax.tree_util.tree_flatten_with_path(
        with_constants(out), is_leaf=is_per_replica
    )
    name = getattr(function, "__name__", "step")
    return masks, [as_array(leaf, path, name) for path, leaf in paths], result


def _first_of_length(masks: Sequence[BlockMask], value: jax.Array) -> BlockMask | None:
    return next(iter(masks_of_length(masks, len(value))), None) if value.ndim else None


def _with_a_row_more(
    frame: Frame, function: Callable[..., PyTree], structure: TreeStructure, leaves: Sequence[Any]
) -> list[jax.ShapeDtypeStruct] | None:
    """Calls a replica's function once more, for blocks of one row more, to see which results get longer.

    A result that is as long as a block has rows may have so many entries by chance.

    Returns:
        The results' shapes, or None if the function works for this number of rows only; then their
        length is all there is to go by.
    """
    split = list(filter(_has_rows, leaves))
    masks = {id(leaf.mask): leaf.mask for leaf in split}
    table = frame.table
    assert isinstance(table, StateTable)

    def longer(state: list[jax.Array], rows: list[jax.Array], valid: list[jax.Array]) -> PyTree:
        batch = with_blocks(leaves, rows, dict(zip(masks, valid, strict=True)))
        with table.lifted(state), recording(Recorder({}, predicts=True)):
            return _call(frame, function, structure, batch)[1]

    sums, made = frame.sums, list(frame.made)
    # The other call writes these, too, and leaves values of its own trace in them.
    made_table = StateTable.of([variable for variable, _ in made])
    values = made_table.read()
    asked = 0 if frame.blocks is None else len(frame.blocks.asked)
    try:
        with trace_identity(object()):
            return jax.eval_shape(
                longer,
                table.read(),
                [_one_longer(leaf.block) for leaf in split],
                list(map(_one_longer, masks.values())),
            )
    except Exception:
        return None
    finally:
        for _, leave in frame.made[len(made) :]:
            leave()
        made_table.put(values)
        frame.sums, frame.made[:] = sums, made
        if frame.blocks is not None:
            del frame.blocks.asked[asked:]


def _one_longer(array: jax.Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((array.shape[0] + 1, *array.shape[1:]), array.dtype)


def _has_rows(leaf: object) -> TypeGuard[Any]:
    return isinstance(leaf, TracedPerReplica) and leaf.mask is not None


def with_blocks(
    leaves: Sequence[Any], blocks: Iterable[jax.Array], masks: Mapping[int, jax.Array]
) -> list[Any]:
    """Gives batches other blocks and masks.

    Args:
        leaves: some of which have rows.
        blocks: for each leaf that has rows, another block.
        masks: another mask for each, by the id of the one that it has. Leaves of one batch share their mask, by
            which a replica tells batches apart.
    """
    others = iter(blocks)
    return [
        TracedPerReplica(next(others), masks[id(leaf.mask)], leaf.source)
        if _has_rows(leaf)
        else leaf
        for leaf in leaves
    ]


@contextlib.contextmanager
def replica_state(table: StateTable, masks: Sequence[BlockMask]) -> Generator[None]:
    """Gives one replica its view of the state, and makes the state whole again afterwards."""
    before = table.read()
    kinds = table.kinds
    # Not replica_id(): it asks the frame, which is not in a replica yet.
    first = axis_index() == 0
    entry = list(before)
    for index, kind in enumerate(kinds):
        if kind is Kind.KEY:
            entry[index] = fold_key(before[index])
        elif kind is Kind.SUM:
            # The first replica carries the sum so far, the others start from nothing.
            entry[index] = jnp.where(first, before[index], jnp.zeros_like(before[index]))
        elif kind is Kind.ROWS:
            entry[index] = _own_rows(before[index], table.leaf_names[index])
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
        elif kind is Kind.ROWS:
            after[index] = jax.lax.all_gather(after[index], replica_axis(), tiled=True)
    table.write(after)


def _own_rows(value: jax.Array, name: str) -> jax.Array:
    """Takes the rows of the replica that runs this code."""
    return jax.lax.dynamic_slice_in_dim(value, *rows_of_replica(value, name, axis_index()))


def rows_of_replica(value: jax.Array, name: str, replica: ArrayLike) -> tuple[Any, int]:
    """Tells where the rows of a replica start in state of rows, and how many they are.

    Args:
        value: with an entry for each row of a batch.
        name: of the variable.
        replica: its index.

    Raises:
        StateError: the rows cannot be divided evenly.
    """
    replicas = axis_size()
    rows, rest = divmod(value.shape[0], replicas)
    if rest:
        raise StateError(
            f"{name} has an entry for each of the {value.shape[0]} rows of a batch, and these cannot be divided "
            f"evenly by {replicas} replicas. Take a batch size that is a multiple of {replicas}."
        )
    return replica * rows, rows


def fold_key(key: jax.Array, replica: ArrayLike = None) -> jax.Array:
    """Makes random keys, typed or not, those of a replica; by default of the one that runs this code."""
    index = axis_index() if replica is None else replica
    typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)

    def fold(one: jax.Array) -> jax.Array:
        return jax.random.fold_in(one, index)

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
    if isinstance(leaf, (jax.Array, bool, int, float, complex)) or is_numeric(leaf):
        return jnp.asarray(leaf)
    where = jax.tree_util.keystr(path)
    raise StepOutputError(
        f"The step {name!r} returned {leaf!r} of type {type(leaf).__name__}"
        + (f" at {where}" if where else "")
        + ", but a compiled step can return only arrays, numbers, texts, None and containers of them. "
        "Return the array behind it, or keep the object outside of the step."
    )
