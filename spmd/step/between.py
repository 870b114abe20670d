"""Per-replica values to one value, from between the replicas: `reduce`, `gather`, `run`.

These work on the results of a step, each call as a small program of its own, and inside a step that
spans several runs (`CrossReplicaStep`), as a part of its program. Padding is left out.
`reduce` is dispatched without waiting for the devices; `gather` and `local_values` outside of a step wait
for the values. In several processes, all call `reduce` and `gather`.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from spmd.cluster import progress
from spmd.errors import BatchError, ReplicaContextError
from spmd.replica import (
    HostPerReplica,
    PerReplica,
    TracedPerReplica,
    blocks_in_order,
    current_frame,
    gathered,
    is_per_replica,
    over_axis,
)
from spmd.step.op_by_op import call_op_by_op, current_step
from spmd.step.state_views import run_in_replicas
from spmd.step.trace import StepCode
from spmd.topology import layout_of, place, readable

MeanOrSum = Literal["sum", "mean"]
Axis: TypeAlias = int | tuple[int, ...] | None


def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Runs a function on every replica, inside a step that spans several runs.

    Args:
        function: what one replica does.
        *args: arguments; a per-replica leaf is split, any other goes whole to every replica.
        **kwargs: likewise.

    Returns:
        The function's result; every leaf is a per-replica value.

    Raises:
        ReplicaContextError: no such step is being traced, or the code is in a replica already.

    Examples:
        >>> import spmd
        >>> def program():
        ...     first = spmd.run(lambda: spmd.replica_id() + 1.0)
        ...     return spmd.reduce(first, "mean") * 2
        >>> step = spmd.step.CrossReplicaStep(program, spmd.make_mesh(["cpu:0"]))
        >>> float(step())
        2.0

    Source: `tf.distribute.Strategy.run` inside `tf.function`.
    """
    frame = current_frame()
    here = current_step() if frame is None else None
    if here is not None:
        code = StepCode(function, getattr(function, "__name__", "step"), True, False)
        return call_op_by_op(code, *here, args, kwargs)
    if frame is None:
        raise ReplicaContextError(
            "spmd.run works inside a step made with spmd.step.CrossReplicaStep. Outside of a step make one: "
            "spmd.Step(function, mesh)(*args)."
        )
    return run_in_replicas(frame, function, args, kwargs)


def reduce(value: Any, op: MeanOrSum = "sum", axis: Axis = None) -> Any:
    """Combines a per-replica value into one.

    Args:
        value: pytree of per-replica values.
        op: `"sum"` or `"mean"`.
        axis: None combines the replicas' values elementwise. A number, or a tuple of them, combines
            along this axis of the values as well: rows of all replicas together, if it is 0; padding
            is left out, and a mean divides by the number of all valid entries.

    Returns:
        The pytree, with one array for each value.

    Raises:
        ValueError: unknown `op`, or the values have no such axis.
        TypeError: a leaf is no per-replica value.
        BatchError: the replicas hold different numbers of rows, and these are to be combined one by
            one. (Inside a step the numbers are not known: there, padding counts as 0.)
        ReplicaContextError: called by a replica.

    Examples:
        >>> import spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> loss = spmd.Step(lambda: spmd.replica_id() + 1.5, mesh, keep_per_replica=True)()
        >>> float(spmd.reduce(loss, "sum"))
        1.5

    Source: `tf.distribute.Strategy.reduce`.
    """
    if op not in ("sum", "mean"):
        raise ValueError(f"Unknown reduction {op!r}. Expected 'sum' or 'mean'.")
    _require_between_replicas("reduce", "all_reduce")

    def one(leaf: Any) -> Any:
        if isinstance(leaf, TracedPerReplica):
            check_axis(axis, leaf.block.ndim)
            total, count = _reduce_block(leaf.block, leaf.mask, op, axis)
            total, count = over_axis("sum", (total, count))
            return _finish(total, count, op, leaf.block.dtype)
        if isinstance(leaf, HostPerReplica):
            raise _on_the_host(leaf)
        if isinstance(leaf, PerReplica):
            check_axis(axis, len(leaf.shape))
            rows = _rows_left(leaf, axis)
            reducer = _reducer(leaf.mesh, leaf.num_replicas, leaf.stacked, op, axis)
            masks = [] if leaf.mask is None else [leaf.mask.array]
            result = readable(reducer(leaf.array, *masks))
            return result if rows is None else result[:rows]
        raise _not_per_replica("reduce", leaf)

    return jax.tree.map(one, value, is_leaf=is_per_replica)


def gather(value: Any, axis: int = 0) -> Any:
    """Concatenates the values of all replicas; padding is left out.

    Args:
        value: pytree of per-replica values with at least one axis.
        axis: the axis along which to concatenate.

    Returns:
        The pytree, with one array for each value, equal on all processes; of texts, NumPy's array.

    Raises:
        ValueError: the values have no such axis, or differ in others; or `axis` is None.
        TypeError: a leaf is no per-replica value.
        ReplicaContextError: called by a replica.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu"])
        >>> step = spmd.Step(lambda x: x * 2, mesh)
        >>> batch = next(iter(spmd.distribute(np.arange(3.0), mesh, batch_size=4)))
        >>> spmd.gather(step(batch)).tolist()
        [0.0, 2.0, 4.0]

    Source: `tf.distribute.Strategy.gather`.
    """
    _require_between_replicas("gather", "all_gather")
    given: Any = axis
    if given is None:
        raise ValueError(
            "gather concatenates along an axis, but got axis=None. Rows are gathered along axis=0."
        )

    def one(leaf: Any) -> Any:
        if isinstance(leaf, HostPerReplica):
            check_axis(axis, len(leaf.shape))
            return leaf.gathered(axis)
        if isinstance(leaf, TracedPerReplica):
            check_axis(axis, leaf.block.ndim)
            _note_rows(leaf)
            return gathered(leaf.block, axis)
        if isinstance(leaf, PerReplica):
            check_axis(axis, len(leaf.shape))
            mesh = leaf.mesh
            # To host memory once it is whole everywhere: the number of valid rows is only known there.
            with progress.waiting("a gather"):
                whole = np.asarray(_replicate(mesh)(leaf.array))
            blocks = whole if leaf.stacked else whole.reshape(leaf.num_replicas, *leaf.block_shape)
            counts = leaf.mask.counts if leaf.mask is not None else [None] * leaf.num_replicas
            valid = [block[:count] for block, count in zip(blocks, counts, strict=True)]
            if axis not in (0, -len(leaf.shape)) and len({value.shape[0] for value in valid}) > 1:
                raise BatchError(
                    f"gather along axis {axis} needs as many rows on every replica, but this partial "
                    f"batch has {[value.shape[0] for value in valid]}. Gather along axis 0, or drop the "
                    "last batch with drop_remainder=True."
                )
            return readable(place(np.concatenate(valid, axis=axis), layout_of(mesh).whole))
        raise _not_per_replica("gather", leaf)

    return jax.tree.map(one, value, is_leaf=is_per_replica)


def local_values(value: Any) -> tuple[Any, ...]:
    """Lists the values that the replicas of this process have.

    Args:
        value: pytree of per-replica values; inside a step, of one array each.

    Returns:
        One pytree for every replica of this process, in order; padding is left out.

    Raises:
        TypeError: a leaf is no per-replica value.
        ReplicaContextError: called by a replica.

    Examples:
        >>> import spmd
        >>> step = spmd.Step(lambda: {"id": spmd.replica_id()}, spmd.make_mesh(["cpu:0"]))
        >>> [int(value["id"]) for value in local_values(step())]
        [0]

    Source: `tf.distribute.Strategy.experimental_local_results`.
    """
    _require_between_replicas("local_values", "all_gather")
    leaves, structure = jax.tree.flatten(value, is_leaf=is_per_replica)
    columns: list[tuple[Any, ...]] = []
    for leaf in leaves:
        if isinstance(leaf, TracedPerReplica):
            _note_rows(leaf)
            columns.append(tuple(blocks_in_order(leaf.block)))
        elif isinstance(leaf, PerReplica | HostPerReplica):
            columns.append(leaf.values)
        else:
            raise _not_per_replica("local_values", leaf)
    return tuple(jax.tree.unflatten(structure, row) for row in zip(*columns, strict=True))


def _note_rows(leaf: TracedPerReplica) -> None:
    """Notes that the program takes padding for rows, so that it does not get any."""
    frame = current_frame()
    if frame is not None and leaf.mask is not None:
        frame.gathers_rows = True


def _rows_left(value: PerReplica, axis: Axis) -> int | None:
    """Counts the rows of a result that still has rows, and has fewer than the padded blocks."""
    if value.mask is None or not value.mask.padded or 0 in _axes(axis, len(value.shape)):
        return None
    counts = value.mask.counts
    if len(set(counts)) > 1:
        raise BatchError(
            f"reduce with axis={axis} combines the replicas' rows one by one, but the replicas hold "
            f"{list(counts)} rows. Combine the rows as well, with axis=0, or drop the last batch with "
            "drop_remainder=True."
        )
    return counts[0]


def _axes(axis: Axis, ndim: int) -> list[int]:
    return [one % ndim for one in _as_tuple(axis)]


def _as_tuple(axis: Axis) -> tuple[int, ...]:
    return () if axis is None else axis if isinstance(axis, tuple) else (axis,)


def _reduce_block(block: Any, mask: Any, op: str, axis: Axis) -> tuple[Any, Any]:
    """Sums one replica's block, and counts what a mean divides by."""
    wide = _wide(block, op)
    if mask is not None:
        shape = mask.shape + (1,) * (block.ndim - 1)
        wide = jnp.where(mask.reshape(shape), wide, jnp.zeros_like(wide))
    count = jnp.ones((), jnp.float32)
    if axis is None:
        return wide, count
    for one in _axes(axis, block.ndim):
        # A float: a product of sizes may exceed int32.
        size = mask.sum() if mask is not None and one == 0 else block.shape[one]
        count = count * jnp.asarray(size, jnp.float32)
    return wide.sum(axis=axis, dtype=wide.dtype), count


def _wide(block: Any, op: str) -> Any:
    if op == "mean":
        # Sums and counts may exceed what float16 holds, though their quotient does not.
        return block.astype(jnp.promote_types(block.dtype, jnp.float32))
    return block.astype(jnp.int32) if block.dtype == jnp.bool_ else block


def _finish(total: Any, count: Any, op: str, dtype: Any) -> Any:
    if op == "sum":
        return total
    mean = total / count
    return mean.astype(dtype) if jnp.issubdtype(dtype, jnp.inexact) else mean


@functools.lru_cache(maxsize=256)
def _reducer(
    mesh: Any, replicas: int, stacked: bool, op: str, axis: Axis
) -> Callable[..., jax.Array]:
    def reducer(array: jax.Array, mask: jax.Array | None = None) -> jax.Array:
        # Not -1 for the rows: their number cannot be told when another axis is empty.
        rows = array.shape[0] // replicas
        blocks = array if stacked else array.reshape(replicas, rows, *array.shape[1:])
        masks = None if mask is None else mask.reshape(replicas, -1)
        each = functools.partial(_reduce_block, op=op, axis=axis)
        totals, counts = jax.vmap(each)(blocks, masks)
        return _finish(totals.sum(0, dtype=totals.dtype), counts.sum(), op, array.dtype)

    return jax.jit(reducer, out_shardings=layout_of(mesh).whole)


@functools.lru_cache(maxsize=16)
def _replicate(mesh: Any) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(lambda array: array, out_shardings=layout_of(mesh).whole)


def check_axis(axis: Axis, ndim: int) -> None:
    """Checks that a value has an axis.

    Args:
        axis: an axis, several of them, or None.
        ndim: how many axes the value has.

    Raises:
        ValueError: there is no such axis.
        TypeError: it is no integer.
    """
    try:
        axes = list(map(operator.index, _as_tuple(axis)))
    except TypeError:
        raise TypeError(
            f"An axis is an integer, but this one is {axis!r} of type {type(axis).__name__}. "
            "Several go into a tuple."
        ) from None
    if any(not -ndim <= one < ndim for one in axes):
        raise ValueError(
            f"There is no axis {axis}: one replica's value has {ndim} axes. "
            "Use axis=None to combine the values of the replicas elementwise."
        )


def _on_the_host(leaf: HostPerReplica) -> TypeError:
    what = "texts" if leaf.is_text else f"arrays of the shapes {[one.shape for one in leaf.values]}"
    return TypeError(
        f"spmd.reduce combines numbers of one shape, but the replicas have {what}. Reduce each in its replica first."
    )


def _not_per_replica(name: str, leaf: Any) -> TypeError:
    return TypeError(
        f"spmd.{name} combines what replicas have, but got {leaf!r} of type {type(leaf).__name__}, "
        "which is one value already. Give it the result of a step."
    )


def _require_between_replicas(name: str, instead: str) -> None:
    frame = current_frame()
    if frame is not None and frame.in_replica:
        raise ReplicaContextError(
            f"spmd.{name} works between the replicas, but was called by one of them. A replica uses "
            f"spmd.{instead}."
        )
