"""Updating some rows or elements of a `tf.Variable`."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization
from frontends.tf.assign import AssignedVariable
from frontends.tf.distribute.scope import get_strategy
from frontends.tf.indexed_slices import IndexedSlices, all_reduced
from spmd.replica import broadcast, current_frame, in_replica


class ScatteredVariable(AssignedVariable):
    """A variable of which rows and elements can be updated."""

    __slots__ = ()

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds rows to some rows; see `scatter_update`."""
        del use_locking
        return self._scatter("add", sparse_delta)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtracts rows from some rows; see `scatter_update`."""
        del use_locking
        return self._scatter("subtract", sparse_delta)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies some rows by rows; see `scatter_update`."""
        del use_locking
        return self._scatter("multiply", sparse_delta)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divides some rows by rows; see `scatter_update`."""
        del use_locking
        return self._scatter("divide", sparse_delta)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Takes the larger of some rows and others, element by element; see `scatter_update`."""
        del use_locking
        return self._scatter("max", sparse_delta)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Takes the smaller of some rows and others, element by element; see `scatter_update`."""
        del use_locking
        return self._scatter("min", sparse_delta)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces some rows.

        Args:
            sparse_delta: a `tf.IndexedSlices`: rows, and where they go.

        Returns:
            The variable; in a compiled step, its new value.

        Raises:
            TypeError: `sparse_delta` is no `tf.IndexedSlices`.
            ValueError: there is no such row, or the type does not fit. In a compiled step, rows that do
                not exist are left out.
            NotImplementedError: the variable is `ON_READ`; or a replica updates, or takes the larger or
                smaller, and the aggregation is a sum or mean.

        Examples:
            >>> from frontends import tf
            >>> variable = tf.Variable([1.0, 2.0, 3.0])
            >>> variable.scatter_update(
            ...     tf.IndexedSlices(tf.constant([9.0]), tf.constant([1]))
            ... ).numpy()
            array([1., 9., 3.], dtype=float32)

        Source: `tf.Variable.scatter_update`.
        """
        del use_locking
        return self._scatter("set", sparse_delta)

    def scatter_nd_add(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Any:
        """Adds to some elements or slices; see `scatter_nd_update`."""
        return self._scatter_nd("add", indices, updates)

    def scatter_nd_sub(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Any:
        """Subtracts from some elements or slices; see `scatter_nd_update`."""
        return self._scatter_nd("subtract", indices, updates)

    def scatter_nd_max(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Any:
        """Takes the larger of some elements or slices and others; see `scatter_nd_update`."""
        return self._scatter_nd("max", indices, updates)

    def scatter_nd_min(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Any:
        """Takes the smaller of some elements or slices and others; see `scatter_nd_update`."""
        return self._scatter_nd("min", indices, updates)

    def scatter_nd_update(
        self, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> Any:
        """Replaces some elements or slices.

        Args:
            indices: integers of shape `(..., k)`: along the last axis, a position on the first `k` axes.
            updates: what goes there, of shape `indices.shape[:-1] + variable.shape[k:]`.

        Returns:
            The variable; in a compiled step, its new value.

        Raises:
            ValueError: there is no such position, or the type does not fit. In a compiled step, positions that
                do not exist are left out.
            NotImplementedError: the variable belongs to a `MirroredStrategy`, as in TensorFlow.

        Source: `tf.Variable.scatter_nd_update`.
        """
        return self._scatter_nd("set", indices, updates)

    def _scatter(self, verb: str, slices: IndexedSlices) -> Any:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {slices!r}. "
                "Write tf.IndexedSlices(values=rows, indices=row_numbers)."
            )
        own = self.synchronization is VariableSynchronization.ON_READ
        if own and self.distribute_strategy.has_components:
            raise NotImplementedError(
                f"{self.name} is ON_READ, which does not support scatter operations. Assign the whole "
                "value: variable.assign(tf.tensor_scatter_nd_update(...))."
            )
        if in_replica() and self.distribute_strategy.has_components:
            slices = self._combined_slices(verb, slices)
        return self._put(verb, (jnp.asarray(slices.indices),), slices.values)

    def _combined_slices(self, verb: str, slices: IndexedSlices) -> IndexedSlices:
        """Combines the rows that replicas write."""
        if self.aggregation is VariableAggregation.NONE:
            return slices
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return broadcast(slices)
        if verb in ("set", "max", "min"):
            raise NotImplementedError(
                f"{self.name} has the aggregation {self.aggregation.name}, which does not say which "
                "replica's rows to take. Make it with aggregation="
                "tf.VariableAggregation.ONLY_FIRST_REPLICA, or write the same rows in all replicas, with "
                "NONE."
            )
        replicas = get_strategy().num_replicas_in_sync
        return all_reduced(slices, self.aggregation.name.lower(), replicas)

    def _scatter_nd(self, verb: str, indices: TensorLike, updates: TensorLike) -> Any:
        if self.distribute_strategy.has_components:
            raise NotImplementedError(
                f"{self.name} belongs to {self.distribute_strategy!r}, whose variables have no "
                "scatter_nd operations, as in TensorFlow. Use scatter_update and its like for rows, or "
                "assign the whole value."
            )
        return self._put(verb, tuple(jnp.moveaxis(jnp.asarray(indices), -1, 0)), updates)

    def _put(self, verb: str, positions: tuple[jax.Array, ...], rows: TensorLike) -> Any:
        held, rows = self._get(), self._typed(rows)
        found: list[jax.Array] = []
        for indices, size in zip(positions, held.shape, strict=False):
            wrong = (indices < 0) | (indices >= size)
            if not isinstance(wrong, Tracer) and wrong.any():
                raise ValueError(
                    f"{self.name} has no element {int(indices[wrong][0])} along an axis of {size}: "
                    f"indices must be in [0, {size})."
                )
            found.append(
                jnp.where(wrong, size, indices)
            )  # JAX would count negative ones from the end
        self._set(getattr(held.at[tuple(found)], verb)(rows, mode="drop"))
        return self.value() if current_frame() is not None else self
