"""The replica axis: where this code is on it, and how values travel along it.

While a step is traced, it is an axis of the mesh, along which JAX's collectives travel. Where replicas run op by op, they
exchange their values (`turns`), and each combines them.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import jax
import jax.numpy as jnp

from spmd.errors import BatchError
from spmd.replica.blocks import blocks_of_all
from spmd.replica.context import current_frame, replica_axis
from spmd.replica.turns import Turns, exchanged

_Tree = TypeVar("_Tree")

ReduceOp = Literal["sum", "mean", "min", "max"]

_COLLECTIVES: dict[str, Any] = {
    "sum": jax.lax.psum,
    "mean": jax.lax.pmean,
    "min": jax.lax.pmin,
    "max": jax.lax.pmax,
}
_FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": jnp.add,
    "mean": jnp.add,
    "min": jnp.minimum,
    "max": jnp.maximum,
}


def take_turns() -> Turns | None:
    """Returns those with whom this replica takes turns; None while a step is traced."""
    frame = current_frame()
    return None if frame is None else frame.turns


def axis_index() -> jax.Array:
    """Returns the index of the replica that runs this code, which may stand between the replicas."""
    turns = take_turns()
    if turns is None:
        return jax.lax.axis_index(replica_axis())
    return jnp.asarray(turns.index, jnp.int32)


def axis_size() -> int:
    """Returns how many replicas there are.

    Raises:
        ReplicaContextError: no step is running here.
    """
    replica_axis()
    frame = current_frame()
    assert frame is not None
    return frame.layout.replicas


def over_axis(op: ReduceOp, tree: _Tree) -> _Tree:
    """Combines a pytree of what each replica has, elementwise.

    Raises:
        BatchError: replicas run op by op, and have arrays of other shapes.
    """
    turns = take_turns()
    if turns is None:
        return _COLLECTIVES[op](tree, replica_axis())
    leaves, structure = jax.tree.flatten(tree)
    arrays = list(map(jnp.asarray, leaves))
    if op in ("sum", "mean"):
        arrays = [one.astype(jnp.int32) if one.dtype == jnp.bool_ else one for one in arrays]
    columns = zip(*exchanged(turns, f"all_reduce({op!r})", arrays), strict=True) if arrays else ()
    return structure.unflatten(_folded(op, column) for column in columns)


def blocks_on_axis(value: jax.Array) -> list[jax.Array]:
    """Lists what each replica has; shapes may differ in their rows."""
    frame, turns = current_frame(), take_turns()
    if turns is not None:
        return [one for (one,) in exchanged(turns, "all_gather", [jnp.asarray(value)])]
    shapes = None if frame is None else frame.blocks
    return blocks_of_all(value, shapes, replica_axis(), axis_size())


def _folded(op: ReduceOp, parts: Sequence[jax.Array]) -> jax.Array:
    shapes = [part.shape for part in parts]
    if len(set(shapes)) > 1:
        raise BatchError(
            f"Replicas combine values (all_reduce) whose shapes differ: {shapes}. Combine what has one shape, such as "
            "a sum over rows."
        )
    total = functools.reduce(_FOLDS[op], parts)
    return total / len(parts) if op == "mean" else total
