"""Which strategy is in force, and is this code one replica's?

The *current strategy* is a context variable: `scope()` sets it for the block, on this thread and in
this asyncio task; other threads start with the default strategy. The *default strategy* is one replica
on the default device.
"""

import contextlib
import contextvars
import functools
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import frontends
from frontends.tf.distribute.reduce_op import op_name
from frontends.tf.indexed_slices import all_reduced, is_slices
from spmd.replica import (
    TracedPerReplica,
    all_gather,
    all_reduce,
    cross_replica_of,
    current_frame,
    in_replica,
    replica_id,
)
from spmd.source_lines import add_library

if TYPE_CHECKING:
    from frontends.tf.distribute.strategy import Strategy

add_library(frontends)

_CURRENT: "contextvars.ContextVar[Strategy | None]" = contextvars.ContextVar(
    "tf_strategy", default=None
)


def has_strategy() -> bool:
    """Tells whether a strategy other than the default is in force.

    Returns:
        True inside a strategy's scope, and inside functions that it runs.

    Examples:
        >>> has_strategy()
        False

    Source: `tf.distribute.has_strategy`.
    """
    return _CURRENT.get() is not None


def get_strategy() -> "Strategy":
    """Returns the strategy in force, the default one if there is none.

    Returns:
        The strategy.

    Examples:
        >>> get_strategy().num_replicas_in_sync
        1

    Source: `tf.distribute.get_strategy`.
    """
    return _CURRENT.get() or _default_strategy()


def in_cross_replica_context() -> bool:
    """Tells whether this code sees all replicas: in a scope, but not in a function that `run` calls.

    Returns:
        True between the replicas; False in a replica, and where no strategy is in force.

    Examples:
        >>> in_cross_replica_context()
        False

    Source: `tf.distribute.in_cross_replica_context`.
    """
    return (has_strategy() or _MERGING.get()) and not in_replica()


def get_replica_context() -> "ReplicaContext | None":
    """Returns the replica that this code belongs to.

    Returns:
        The replica's context; None in cross-replica context; a context of one replica where no
        strategy is in force.

    Examples:
        >>> get_replica_context().num_replicas_in_sync
        1

    Source: `tf.distribute.get_replica_context`.
    """
    return None if in_cross_replica_context() else ReplicaContext(get_strategy())


def experimental_set_strategy(strategy: "Strategy | None") -> None:
    """Puts a strategy in force without a `with` block, for notebooks.

    Args:
        strategy: the strategy, or None for the default.

    Raises:
        RuntimeError: called inside a scope or a replica, where it could not end.

    Examples:
        >>> from frontends import tf
        >>> tf.distribute.experimental_set_strategy(tf.distribute.OneDeviceStrategy("cpu:0"))
        >>> tf.distribute.has_strategy()
        True
        >>> tf.distribute.experimental_set_strategy(None)

    Source: `tf.distribute.experimental_set_strategy`.
    """
    if _SCOPES.get() or in_replica():
        raise RuntimeError(
            "experimental_set_strategy was called inside a strategy's scope or a replica. Call it at "
            "the top level of the program, before any `with strategy.scope():`."
        )
    _CURRENT.set(_unless_default(strategy))


def _unless_default(strategy: "Strategy | None") -> "Strategy | None":
    return None if strategy is None or strategy.is_default else strategy


# Whether a merge function runs where no strategy is in force.
_MERGING: contextvars.ContextVar[bool] = contextvars.ContextVar("tf_merging", default=False)
_SCOPES: contextvars.ContextVar[int] = contextvars.ContextVar("tf_scopes", default=0)


@contextlib.contextmanager
def entered(strategy: "Strategy") -> "Generator[Strategy]":
    """Puts a strategy in force for a block.

    Args:
        strategy: the strategy.

    Yields:
        The strategy.

    Raises:
        RuntimeError: another strategy is in force.
    """
    current = _CURRENT.get()
    if current is not None and current is not strategy:
        raise RuntimeError(
            f"Cannot enter the scope of {strategy!r} inside the scope of {current!r}: a variable "
            "belongs to one strategy. Leave the outer scope first, or use one strategy for both."
        )
    tokens = _CURRENT.set(_unless_default(strategy)), _SCOPES.set(_SCOPES.get() + 1)
    try:
        yield strategy
    finally:
        _CURRENT.reset(tokens[0])
        _SCOPES.reset(tokens[1])


@contextlib.contextmanager
def in_force(strategy: "Strategy") -> "Generator[None]":
    """Puts a strategy in force for a block, whatever was in force before.

    Args:
        strategy: the strategy.
    """
    token = _CURRENT.set(_unless_default(strategy))
    try:
        yield
    finally:
        _CURRENT.reset(token)


class ReplicaContext:
    """What one replica knows of itself and can do with the others.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.MirroredStrategy(["cpu:0"])
        >>> def replica():
        ...     context = tf.distribute.get_replica_context()
        ...     return context.all_reduce("SUM", context.replica_id_in_sync_group + 1)
        >>> strategy.run(replica).values[0].item()
        1

    Source: `tf.distribute.ReplicaContext`.
    """

    def __init__(self, strategy: "Strategy") -> None:
        """Makes the context of the running replica; use `tf.distribute.get_replica_context()`.

        Args:
            strategy: that runs the replica.
        """
        self._strategy = strategy
        self._frame = current_frame()

    @property
    def strategy(self) -> "Strategy":
        """The strategy that runs the replica."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> jax.Array:
        """Index of the replica, an int32 scalar."""
        return replica_id()

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices that run the program: all of them, since replicas share one program.

        Where no strategy was chosen, an empty name.

        Source: `tf.distribute.ReplicaContext.devices`, which has the replica's own.
        """
        return ("",) if self._strategy.is_default else self._strategy.extended.worker_devices

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Combines a value over all replicas.

        Args:
            reduce_op: a `tf.distribute.ReduceOp` or its name.
            value: nested structure of arrays, variables and `tf.IndexedSlices`.
            options: accepted; XLA chooses the algorithm.

        Returns:
            The structure, combined; the same on every replica. Of slices, those of all replicas.

        Source: `tf.distribute.ReplicaContext.all_reduce`.
        """
        del options
        op, value = op_name(reduce_op), _read(value)
        if not self._in_replica("all_reduce"):
            return value
        replicas = self.num_replicas_in_sync
        return jax.tree.map(
            lambda leaf: (
                all_reduced(leaf, op, replicas) if is_slices(leaf) else all_reduce(leaf, op)
            ),
            value,
            is_leaf=is_slices,
        )

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Concatenates the values of all replicas along an axis.

        Args:
            value: nested structure of arrays with at least one axis.
            axis: the axis.
            options: accepted; XLA chooses the algorithm.

        Returns:
            The structure, concatenated; the same on every replica.

        Source: `tf.distribute.ReplicaContext.all_gather`.
        """
        del options
        value = _read(value)
        return all_gather(value, axis) if self._in_replica("all_gather") else value

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function once for all replicas, in cross-replica context.

        Args:
            merge_fn: takes the strategy, then the arguments as per-replica values.
            args: one replica's positional arguments.
            kwargs: one replica's keyword arguments.

        Returns:
            What the function returned; of a per-replica value, this replica's part.

        Source: `tf.distribute.ReplicaContext.merge_call`.
        """
        frame = self._frame
        inside = self._in_replica("merge_call")
        token = _MERGING.set(True)
        try:
            if not inside or frame is None:
                return merge_fn(self._strategy, *args, **(kwargs or {}))
            whole_args, whole_kwargs = jax.tree.map(_per_replica, (tuple(args), dict(kwargs or {})))
            with cross_replica_of(frame):
                merged = merge_fn(self._strategy, *whole_args, **whole_kwargs)
        finally:
            _MERGING.reset(token)
        return jax.tree.map(
            lambda leaf: leaf.block if isinstance(leaf, TracedPerReplica) else leaf,
            merged,
            is_leaf=lambda leaf: isinstance(leaf, TracedPerReplica),
        )

    def _in_replica(self, name: str) -> bool:
        """Tells a replica from code that no strategy runs; refuses a context that is out of its place."""
        if current_frame() is not self._frame or in_cross_replica_context():
            raise RuntimeError(
                f"ReplicaContext.{name} was called outside of the replica that the context belongs to. "
                "Ask for it where it is used: tf.distribute.get_replica_context()."
            )
        return in_replica()

    def __repr__(self) -> str:
        return f"ReplicaContext({self._strategy!r})"


def _read(value: Any) -> Any:
    """Takes the values of the variables in a structure."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, jax.Array) or not hasattr(leaf, "__jax_array__"):
            return leaf
        return leaf.__jax_array__()

    return jax.tree.map(one, value)


def _per_replica(leaf: Any) -> Any:
    """What a merge function sees of a replica's argument; a text or other object is the same for all."""
    return TracedPerReplica(jnp.asarray(leaf)) if isinstance(leaf, _ARRAYS) else leaf


_ARRAYS = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)


@functools.cache  # asked before every step, and an import statement takes its time
def _default_strategy() -> "Strategy":
    from frontends.tf.distribute.strategies.default import default_strategy

    return default_strategy()
