"""Methods of strategies that combine or list per-replica values."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import spmd
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.reduce_op import ReduceOp, op_name
from frontends.tf.distribute.scope import StrategyLike, require_cross_replica
from frontends.tf.errors import InvalidArgumentError
from frontends.tf.indexed_slices import is_slices
from spmd.replica import HostPerReplica, TracedPerReplica, in_replica, is_per_replica
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

        `tf.IndexedSlices`, such as gradients of embeddings, become the whole array.

        With one replica and no axis, integers and booleans keep their type, as in TensorFlow; a mean over several
        replicas is a float. A list of plain numbers or arrays is one tensor along an axis, else a structure.

        Raises:
            ValueError: unknown reduction or axis; the sum, with no axis, of a value that is not
                per-replica; with no axis, rows of a partial batch without a counterpart on the other replicas; or
                the value is None, as if a replica's function had forgotten its `return`; or booleans of several
                replicas are to be added.
            TypeError: a value is `tf.IndexedSlices`, and there is an axis, or it has no `dense_shape`; booleans are to be
                added along an axis; or a dict of plain numbers is to be reduced along one.
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
        if axis is not None:
            value = _one_tensor(value, axis)
        if value is None:
            return self._reduce_none(op, axis)

        def one(leaf: TensorLike) -> Any:
            leaf = _without_variable(leaf)
            if is_per_replica(leaf):
                return self._reduce_per_replica(op, leaf, axis)
            if isinstance(leaf, HostPerReplica):
                return spmd.reduce(leaf, op, axis)
            if is_slices(leaf):
                if axis is not None or leaf.dense_shape is None or not is_per_replica(leaf.values):
                    raise TypeError(
                        "strategy.reduce got tf.IndexedSlices along an axis, or of an array whose shape is not known. Combine "
                        f"them in the replica: tf.distribute.get_replica_context().all_reduce({op.upper()!r}, slices)."
                    )
                # Row numbers must not be reduced: each replica makes the whole array.
                whole = self.run(jnp.asarray, args=(leaf,))
                return self._reduce_per_replica(op, whole, axis)
            return self._reduce_plain(op, leaf, axis)

        return jax.tree.map(
            one, value, is_leaf=lambda leaf: is_per_replica(leaf) or is_slices(leaf)
        )

    def gather(self, value: Nested, axis: int) -> Any:
        """Concatenates per-replica values along an axis; padding rows are left out.

        One replica's value is returned as it is, whatever the axis. A `tf.Variable` of `MirroredStrategy` counts once
        for each replica, as in TensorFlow; any other value that all replicas share, once.

        Raises:
            ValueError: there are several replicas, and no such axis.
            RuntimeError: called inside a replica.

        Source: `tf.distribute.Strategy.gather`.
        """
        require_cross_replica("gather")
        alone = self.num_replicas_in_sync == 1

        def one(leaf: TensorLike) -> Any:
            held = _without_variable(leaf)
            if isinstance(held, HostPerReplica):
                return as_tensors(held.values[0] if alone else spmd.gather(held, axis))
            if is_per_replica(held):
                whole = alone and not _has_axis(axis, len(_of_one(held).shape))
                return jnp.asarray(held) if whole else spmd.gather(held, axis)
            copies = 1 if held is leaf else len(leaf.values)
            return jnp.concatenate([held] * copies, axis=axis) if copies > 1 else held

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
        if isinstance(leaf, HostPerReplica):
            return tuple(map(as_tensors, leaf.values))
        if is_per_replica(leaf):
            return spmd.step.local_values(leaf)
        values = getattr(leaf, "values", ()) if isinstance(leaf, spmd.Variable) else ()
        several = 1 < len(values) == len(self.extended.holders)
        return tuple(one.value() for one in values) if several else ()

    def _reduce_none(self, op: str, axis: int | tuple[int, ...] | None) -> None:
        """Refuses None where TensorFlow does; a mean, and a strategy of one device, pass it on."""
        require_cross_replica("reduce")
        if axis is not None or (op == "sum" and self.combines_values):
            raise ValueError(
                f"strategy.reduce({op.upper()!r}, None, axis={axis}) got None instead of what replicas computed. "
                "Return the value from the function that strategy.run(...) calls."
            )

    def _reduce_per_replica(self, op: Any, value: Any, axis: Any) -> Any:
        dtype = _of_one(value).dtype
        if (
            axis is None
            and self.num_replicas_in_sync == 1
            and not jnp.issubdtype(dtype, jnp.inexact)
        ):
            return spmd.reduce(value, "sum").astype(dtype)
        _require_numbers(op, dtype, axis)
        return spmd.reduce(value, op, axis)

    def _reduce_plain(self, op: str, value: Nested, axis: int | tuple[int, ...] | None) -> Any:
        """Reduces a value that all replicas share; along an axis each replica counts, as in TensorFlow."""
        require_cross_replica("reduce")
        array = value if isinstance(value, jax.Array) else np.asarray(value)
        replicas = self.num_replicas_in_sync
        if axis is not None:
            check_axis(axis, array.ndim)
            _require_numbers(op, array.dtype, axis)
            return array.mean(axis) if op == "mean" else array.sum(axis) * replicas
        is_zero = type(value) in (int, float) and value == 0
        if op == "sum" and replicas > 1 and not is_zero:
            raise ValueError(
                f"strategy.reduce('SUM', {value!r}) got one value that all replicas share, not one "
                "value per replica, so it cannot say whether it counts once or once per replica. "
                "Reduce what strategy.run(...) returned."
            )
        return value


def _without_variable(leaf: TensorLike) -> Any:
    return leaf.per_replica() if hasattr(leaf, "per_replica") else leaf


def _of_one(value: Any) -> Any:
    """Returns something with the shape and the type of what a replica has."""
    return value.block if isinstance(value, TracedPerReplica) else value


def _has_axis(axis: int | None, ndim: int) -> bool:
    return axis is not None and -ndim <= axis < ndim


def _one_tensor(value: Nested, axis: int | tuple[int, ...]) -> Any:
    """Makes a tensor of a list of plain numbers or arrays, as TensorFlow does of what it reduces along an axis."""
    leaves = jax.tree.leaves(value, is_leaf=lambda leaf: is_per_replica(leaf) or is_slices(leaf))
    plain = (bool, int, float, complex, np.ndarray, np.generic, jax.Array)
    if not leaves or not all(isinstance(leaf, plain) for leaf in leaves):
        return value
    if isinstance(value, (list, tuple)):
        shapes = set(map(_shape_of_list, value))
        return jnp.asarray(value) if len(shapes) == 1 and None not in shapes else value
    if isinstance(value, dict) and any(np.ndim(leaf) == 0 for leaf in leaves):
        raise TypeError(
            f"strategy.reduce along axis {axis} takes a tensor or what strategy.run returned, but got {value!r}: "
            "a dict has no axes. Reduce its values with axis=None."
        )
    return value


def _shape_of_list(value: Nested) -> tuple[int, ...] | None:
    """Returns the shape that an array or a nested list has as a tensor; None if it has none."""
    if not isinstance(value, (list, tuple)):
        return None if isinstance(value, dict) else np.shape(value)
    shapes = set(map(_shape_of_list, value))
    first = next(iter(shapes), ())
    return None if len(shapes) > 1 or first is None else (len(value), *first)


def _require_numbers(op: str, dtype: Any, axis: int | tuple[int, ...] | None) -> None:
    if dtype == np.bool_:
        # TensorFlow's are of these two classes.
        raise (InvalidArgumentError if axis is None else TypeError)(
            f"strategy.reduce({op.upper()!r}, ...) expected numbers, got dtype bool. Cast them in the replica: "
            "tf.cast(x, tf.int32)."
        )
