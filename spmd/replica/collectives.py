"""Values that travel between replicas inside a step.

All functions here are for replica code: they run on every replica at the same place of the program,
or the program hangs (the engine refuses a collective that only some replicas would reach). They take
and return pytrees. None blocks the host: they become part of the compiled step.
"""

from typing import Any, Literal, TypeVar, get_args

import jax
import jax.numpy as jnp

from spmd.errors import ReplicaContextError
from spmd.replica.array_like import array_of
from spmd.replica.axis import ReduceOp, axis_size, blocks_on_axis, over_axis, take_turns
from spmd.replica.context import current_frame, in_replica, replica_axis, replica_id
from spmd.replica.values import is_per_replica
from spmd.typing import ArrayLike

_Tree = TypeVar("_Tree")

_OPS = get_args(ReduceOp)


def all_reduce(tree: _Tree, op: ReduceOp = "sum") -> _Tree:
    """Combines a value over all replicas; every replica gets the result.

    Args:
        tree: pytree of arrays, of the same shapes on every replica; or numbers, such as `x.shape[0]`.
        op: `"sum"`, `"mean"`, `"min"` or `"max"`, elementwise.

    Returns:
        The pytree, combined.

    Raises:
        ValueError: unknown `op`.
        ReplicaContextError: called outside of a replica's part of a step.

    Examples:
        >>> import spmd
        >>> step = spmd.Step(
        ...     lambda: spmd.all_reduce(spmd.replica_id() + 1.0), spmd.make_mesh(["cpu"])
        ... )
        >>> float(step()) == sum(range(1, len(spmd.make_mesh(["cpu"]).devices) + 1))
        True

    Source: `tf.distribute.ReplicaContext.all_reduce`; `jax.lax.psum`.
    """
    if op not in _OPS:
        raise ValueError(f"Unknown reduction {op!r}. Expected one of {', '.join(map(repr, _OPS))}.")
    _require_replica("all_reduce")
    # A batch that code closes over is no value of one replica: `array_of` refuses it.
    tree = jax.tree.map(_operand, tree, is_leaf=is_per_replica)
    return over_axis(op, tree)


def all_gather(tree: _Tree, axis: int = 0) -> _Tree:
    """Concatenates the values of all replicas; every replica gets the result.

    Args:
        tree: pytree of arrays with at least one axis, of the same shapes on every replica; but those of a partial
            batch may differ in its rows.
        axis: the axis along which to concatenate.

    Returns:
        The pytree; each array's `axis` is as many times longer as there are replicas.

    Raises:
        ValueError: an array has no axis.
        ReplicaContextError: called outside of a replica's part of a step.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> mesh = spmd.make_mesh(["cpu"])
        >>> step = spmd.Step(lambda: spmd.replica.all_gather(jnp.ones((2, 3))), mesh)
        >>> step().shape == (2 * len(mesh.devices), 3)
        True

    Source: `tf.distribute.ReplicaContext.all_gather`; `jax.lax.all_gather`.
    """
    _require_replica("all_gather")

    def gather(leaf: ArrayLike) -> jax.Array:
        leaf = jnp.asarray(leaf)
        if leaf.ndim == 0:
            raise ValueError(
                "all_gather needs arrays with an axis to concatenate along, but got a scalar of "
                f"type {leaf.dtype}. Give it one: x[None]."
            )
        return gathered(leaf, axis)

    return jax.tree.map(gather, tree, is_leaf=is_per_replica)


def broadcast(tree: _Tree, source: int = 0) -> _Tree:
    """Gives every replica the value that one of them has.

    Args:
        tree: pytree of arrays, of the same shapes on every replica.
        source: index of the replica whose value is taken.

    Returns:
        The pytree as `source` had it.

    Raises:
        ValueError: there is no such replica.
        ReplicaContextError: called outside of a replica's part of a step.

    Examples:
        >>> import spmd
        >>> step = spmd.Step(
        ...     lambda: spmd.replica.broadcast(spmd.replica_id() + 5), spmd.make_mesh(["cpu"])
        ... )
        >>> int(step())
        5

    Source: `tf.distribute.StrategyExtended.broadcast_to`.
    """
    _require_replica("broadcast")
    replicas = axis_size()
    if not 0 <= source < replicas:
        raise ValueError(
            f"There is no replica {source} to broadcast from: there are {replicas}, 0 to {replicas - 1}."
        )
    mine = replica_id() == source

    def send(leaf: ArrayLike) -> jax.Array:
        leaf = jnp.asarray(leaf)
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            data = send(jax.random.key_data(leaf))
            return jax.random.wrap_key_data(data, impl=jax.random.key_impl(leaf))
        # A sum in which all others contribute zero; where() keeps their NaN and inf out.
        wide = leaf.astype(jnp.int32) if leaf.dtype == jnp.bool_ else leaf
        total = over_axis("sum", jnp.where(mine, wide, jnp.zeros_like(wide)))
        return total.astype(leaf.dtype)

    return jax.tree.map(send, tree, is_leaf=is_per_replica)


def combine(value: jax.Array, op: ReduceOp | Literal["first"]) -> jax.Array:
    """Combines the values that replicas have, seen from between them, inside a step that is being traced.

    Args:
        value: the value of one replica.
        op: as for `all_reduce`; or `"first"`, the value of the first replica.

    Returns:
        One value for all replicas.

    Raises:
        ReplicaContextError: no step is being traced.
    """
    if op == "first":
        return blocks_in_order(value)[0]
    return over_axis(op, value)


def blocks_in_order(value: jax.Array) -> list[jax.Array]:
    """Lists what every replica has, inside a step that is being traced; shapes may differ in their rows.

    Args:
        value: what this one has.
    """
    return blocks_on_axis(value)


def gathered(value: jax.Array, axis: int) -> jax.Array:
    """Concatenates what all replicas have, inside a step that is being traced.

    Args:
        value: what this one has.
        axis: along which to concatenate.
    """
    frame = current_frame()
    if take_turns() is None and (frame is None or frame.blocks is None):
        return jax.lax.all_gather(value, replica_axis(), axis=axis, tiled=True)
    return jnp.concatenate(blocks_in_order(value), axis=axis)


def _operand(leaf: ArrayLike) -> Any:
    """Makes an operand that JAX combines in the program, not while it traces."""
    leaf = array_of(leaf)
    frame = current_frame()
    if frame is not None and frame.blocks is not None and not isinstance(leaf, jax.Array):
        # JAX multiplies a number by the number of replicas; but x.shape[0], say, is not the same on all.
        return jnp.asarray(leaf)
    return leaf


def _require_replica(name: str) -> None:
    if not in_replica():
        raise ReplicaContextError(
            f"spmd.{name} combines the values that replicas have inside a step, but no step is "
            "running here. Outside of a step use spmd.reduce or spmd.gather on its result."
        )
