"""`tf.distribute.ReplicaContext`: what a function that a strategy runs can ask and do as one replica."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.distribute.device_names import long_name
from frontends.tf.distribute.options import CollectiveHints
from frontends.tf.distribute.reduce_op import ReduceOp, op_name
from frontends.tf.distribute.scope import (
    StrategyLike,
    get_strategy,
    in_cross_replica_context,
    merging,
)
from frontends.tf.indexed_slices import all_reduced, is_slices
from spmd.replica import (
    TracedPerReplica,
    all_gather,
    all_reduce,
    cross_replica_of,
    current_frame,
    in_replica,
    is_per_replica,
    replica_id,
)


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

    def __init__(self, strategy: StrategyLike) -> None:
        """Makes the context of the running replica; use `tf.distribute.get_replica_context()`."""
        self._strategy = strategy
        self._frame = current_frame()

    @property
    def strategy(self) -> StrategyLike:
        """The strategy that runs the replica."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> jax.Array:
        """Index of the replica, an int32 scalar; with one replica, its value is known in a program, too."""
        if self.num_replicas_in_sync > 1:
            return replica_id()
        with jax.ensure_compile_time_eval():
            return jnp.zeros((), jnp.int32)

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices that run the program: all of them, since replicas share one program.

        Where no strategy was chosen, an empty name.

        Source: `tf.distribute.ReplicaContext.devices`, which has the replica's own.
        """
        if self.strategy.is_default:
            return ("",)
        return tuple(map(long_name, self.strategy.mesh.local_devices))

    def all_reduce(
        self, reduce_op: ReduceOp | str, value: Nested, options: CollectiveHints | None = None
    ) -> Any:
        """Combines arrays, variables and `tf.IndexedSlices`, in any nested structure, over all replicas.

        Returns:
            The structure, combined; the same on every replica. Of slices, those of all replicas. A mean of
            integers is a float, except that one replica alone keeps its value.

        Source: `tf.distribute.ReplicaContext.all_reduce`.
        """
        op, value = op_name(reduce_op), _read(value)
        if not self._in_replica("all_reduce"):
            return value
        replicas = self.num_replicas_in_sync

        def one(leaf: TensorLike) -> Any:
            if is_slices(leaf):
                return all_reduced(leaf, op, replicas)
            whole = replicas == 1 and jnp.issubdtype(jnp.result_type(leaf), jnp.integer)
            return all_reduce(leaf, "sum" if whole else op)

        return jax.tree.map(one, value, is_leaf=is_slices)

    def all_gather(self, value: Nested, axis: int, options: CollectiveHints | None = None) -> Any:
        """Concatenates the values of all replicas along an axis.

        Returns:
            The structure, concatenated; the same on every replica. One replica's value is returned as it is, even
            a scalar.

        Raises:
            ValueError: there are several replicas, and a value has no axis.

        Source: `tf.distribute.ReplicaContext.all_gather`.
        """
        value = _read(value)
        several = self._in_replica("all_gather") and self.num_replicas_in_sync > 1
        return all_gather(value, axis) if several else value

    def merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
    ) -> Any:
        """Calls a function once for all replicas, in cross-replica context.

        Args:
            merge_fn: takes the strategy, then the arguments as per-replica values.
            args: one replica's positional arguments.
            kwargs: one replica's keyword arguments.

        Returns:
            What the function returned; of a per-replica value, this replica's part.

        Source: `tf.distribute.ReplicaContext.merge_call`.
        """
        frame = self._frame if self._in_replica("merge_call") else None
        with merging():
            if frame is None:
                return merge_fn(self.strategy, *args, **(kwargs or {}))
            whole_args, whole_kwargs = jax.tree.map(
                _per_replica, (tuple(args), dict(kwargs or {})), is_leaf=is_per_replica
            )
            with cross_replica_of(frame):
                merged = merge_fn(self.strategy, *whole_args, **whole_kwargs)
        return jax.tree.map(
            lambda leaf: leaf.block if isinstance(leaf, TracedPerReplica) else leaf,
            merged,
            is_leaf=is_per_replica,
        )

    def _in_replica(self, name: str) -> bool:
        """Tells whether this is a replica; refuses a context that is used outside of its own replica."""
        if current_frame() is not self._frame or in_cross_replica_context():
            raise RuntimeError(
                f"ReplicaContext.{name} was called outside of the replica that the context belongs to. "
                "Ask for it where it is used: tf.distribute.get_replica_context()."
            )
        return in_replica()

    def __repr__(self) -> str:
        return f"ReplicaContext({self.strategy!r})"


def get_replica_context() -> ReplicaContext | None:
    """Returns the context of the replica that this code belongs to.

    It is None in cross-replica context, and that of one replica where no strategy is in force.

    Source: `tf.distribute.get_replica_context`.
    """
    return None if in_cross_replica_context() else ReplicaContext(get_strategy())


def _read(value: Nested) -> Any:
    """Replaces the variables in a structure by their values."""

    def one(leaf: TensorLike) -> Any:
        if isinstance(leaf, jax.Array) or not hasattr(leaf, "__jax_array__"):
            return leaf
        return leaf.__jax_array__()

    return jax.tree.map(one, value, is_leaf=is_per_replica)


def _per_replica(leaf: TensorLike) -> Any:
    """Wraps a replica's argument as a merge function sees it; texts and other objects are the same for all."""
    return TracedPerReplica(jnp.asarray(leaf)) if isinstance(leaf, _ARRAYS) else leaf


_ARRAYS = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)
