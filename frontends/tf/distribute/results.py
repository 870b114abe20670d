"""Methods of strategies that combine or list per-replica values."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer

import spmd
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.reduce_op import ReduceOp, op_name
from frontends.tf.distribute.scope import StrategyLike, require_cross_replica
from frontends.tf.indexed_slices import is_slices
from spmd.replica import in_replica, is_per_replica
from spmd.step import check_axis


class StrategyResults(StrategyLike):
    """Methods of strategies that combine or list per-replica values."""

    extended: StrategyExtended

    def reduce(
        self, reduce_op: ReduceOp | str, value: Nested, axis: int | tuple[int, ...] | None
    ) -> Any:
        """Combines per-replica values into one.

        Args:
            reduce_op: `tf.distribute.ReduceOp.SUM`, `MEAN`, or its name.
            value: nested structure of per-replica values.
            axis: None combines elementwise over replicas; one or several axes also combine along these axes
                of the values. Padding rows are left out.

        Raises:
            ValueError: unknown reduction or axis; the sum, with no axis, of a value that is not
                per-replica; or, with no axis, rows of a partial batch without a counterpart on the other replicas.
            TypeError: a value is `tf.IndexedSlices`, whose row numbers must not be reduced.
            RuntimeError: called inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> losses = strategy.run(lambda: 1.5)
            >>> float(strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None))
            1.5

        Source: `tf.distribute.Strategy.reduce`.
        """
        op = op_name(reduce_op)

        def one(leaf: TensorLike) -> Any:
            leaf = _without_variable(leaf)
            if is_per_replica(leaf):
                return spmd.reduce(leaf, op, axis)
            if is_slices(leaf):
                raise TypeError(
                    "strategy.reduce got tf.IndexedSlices. Combine them in the replica: "
                    f"tf.distribute.get_replica_context().all_reduce({op.upper()!r}, slices)."
                )
            return self._reduce_plain(op, leaf, axis)

        return jax.tree.map(
            one, value, is_leaf=lambda leaf: is_per_replica(leaf) or is_slices(leaf)
        )

    def gather(self, value: Nested, axis: int) -> Any:
        """Concatenates per-replica values along an axis; padding rows are left out.

        Raises:
            ValueError: there is no such axis.
            RuntimeError: called inside a replica.

        Source: `tf.distribute.Strategy.gather`.
        """
        require_cross_replica("gather")

        def one(leaf: TensorLike) -> Any:
            leaf = _without_variable(leaf)
            return spmd.gather(leaf, axis) if is_per_replica(leaf) else leaf

        return jax.tree.map(one, value, is_leaf=is_per_replica)

    def experimental_local_results(self, value: Nested) -> tuple[Any, ...]:
        """Lists what the replicas of this process have.

        Returns:
            One structure for every replica, in order, with plain values repeated; a plain value alone. A
            `tf.Variable` counts as its value on every replica. Inside a replica, the replica's own.

        Raises:
            RuntimeError: called inside a replica, for values of all of them.

        Source: `tf.distribute.Strategy.experimental_local_results`.
        """
        leaves, structure = jax.tree.flatten(value, is_leaf=is_per_replica)
        if in_replica() and not any(map(is_per_replica, leaves)):
            return (value,)
        columns = {i: found for i, v in enumerate(leaves) if (found := self._local_values(v))}
        if not columns:
            return (value,)
        count = len(next(iter(columns.values())))
        return tuple(
            structure.unflatten(
                columns[i][replica] if i in columns else leaf for i, leaf in enumerate(leaves)
            )
            for replica in range(count)
        )

    def _local_values(self, leaf: TensorLike) -> tuple[Any, ...]:
        """Lists what the replicas have of a leaf; nothing, if it is the same for all."""
        if is_per_replica(leaf):
            return spmd.step.local_values(leaf)
        values = getattr(leaf, "values", ()) if isinstance(leaf, spmd.Variable) else ()
        return values if 1 < len(values) == len(self.extended.holders) else ()

    def _reduce_plain(self, op: str, value: Nested, axis: int | tuple[int, ...] | None) -> Any:
        """Reduces a value that all replicas share; along an axis each replica counts, as in TensorFlow."""
        require_cross_replica("reduce")
        array = value if isinstance(value, jax.Array) else np.asarray(value)
        replicas = self.num_replicas_in_sync
        if axis is not None:
            check_axis(axis, array.ndim)
            return array.mean(axis) if op == "mean" else array.sum(axis) * replicas
        traced = isinstance(array, Tracer)
        if op == "sum" and replicas > 1 and (traced or np.any(array != 0)):
            raise ValueError(
                f"strategy.reduce('SUM', {value!r}) got one value that all replicas share, not one "
                "value per replica, so it cannot say whether it counts once or once per replica. "
                "Reduce what strategy.run(...) returned."
            )
        return value


def _without_variable(leaf: TensorLike) -> Any:
    return leaf.per_replica() if hasattr(leaf, "per_replica") else leaf
