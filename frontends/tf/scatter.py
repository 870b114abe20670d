"""Updating some rows or elements of a `tf.Variable`."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization, reduced
from frontends.tf.assign import VERBS, AssignedVariable
from frontends.tf.distribute.scope import get_strategy
from frontends.tf.indexed_slices import IndexedSlices, all_reduced
from frontends.tf.ops.convert import named
from frontends.tf.ops.positions import existing
from frontends.tf.variable_slice import remember
from spmd.replica import broadcast, in_replica
from spmd.state import Update


def _of_rows(name: str, verb: str, summary: str) -> Callable[..., Any]:
    """Makes a method that updates some rows."""

    def update(
        self: "ScatteredVariable",
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Any:
        return self._scatter(verb, sparse_delta)

    return named(f"ScatteredVariable.{name}", f"{summary}; see `scatter_update`.", update)


def _of_elements(name: str, verb: str, summary: str) -> Callable[..., Any]:
    """Makes a method that updates some elements or slices."""

    def update(
        self: "ScatteredVariable",
        indices: TensorLike,
        updates: TensorLike,
        name: str | None = None,
    ) -> Any:
        return self._scatter_nd(verb, indices, updates)

    return named(f"ScatteredVariable.{name}", f"{summary}; see `scatter_nd_update`.", update)


class ScatteredVariable(AssignedVariable):
    """A variable of which rows and elements can be updated."""

    __slots__ = ()

    scatter_add = _of_rows("scatter_add", "add", "Adds rows to some rows")
    scatter_sub = _of_rows("scatter_sub", "subtract", "Subtracts rows from some rows")
    scatter_mul = _of_rows("scatter_mul", "multiply", "Multiplies some rows by rows")
    scatter_div = _of_rows("scatter_div", "divide", "Divides some rows by rows")
    scatter_max = _of_rows("scatter_max", "max", "Keeps the larger of old and new values")
    scatter_min = _of_rows("scatter_min", "min", "Keeps the smaller of old and new values")
    scatter_nd_add = _of_elements("scatter_nd_add", "add", "Adds to elements or slices")
    scatter_nd_sub = _of_elements("scatter_nd_sub", "subtract", "Subtracts from elements or slices")
    scatter_nd_max = _of_elements("scatter_nd_max", "max", "Keeps the larger of old and new values")
    scatter_nd_min = _of_elements(
        "scatter_nd_min", "min", "Keeps the smaller of old and new values"
    )

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
        return self._scatter("set", sparse_delta)

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

    def __getitem__(self, index: Any) -> Any:
        part = self.value()[index]
        remember(part, self, index)
        return part

    def assign_slice(self, index: Any, value: TensorLike, verb: str) -> Any:
        """Changes a part of the variable: what `v[index].assign(value)` does.

        Args:
            index: what stands in the brackets.
            value: what goes there; its shape broadcasts to that of the part.
            verb: `"assign"`, `"assign_add"` or `"assign_sub"`.

        Returns:
            The variable; in a compiled step, its new value.

        Raises:
            ValueError: shape or type do not fit.
            NotImplementedError: the variable is `ON_READ`, and this is no replica.

        Source: the `assign` of a slice of a `tf.Variable`, which is all that TensorFlow has.
        """
        own = self.synchronization is VariableSynchronization.ON_READ
        rows = jnp.asarray(self._typed(value), self._value.dtype)
        if own and self._strategy.has_components and not in_replica():
            raise NotImplementedError(
                f"{self.name} is ON_READ: between replicas a part of it cannot be assigned. Assign the whole "
                "value, or assign in a replica."
            )
        if not own and in_replica() and get_strategy().num_replicas_in_sync > 1:
            self._check_aggregation()
            rows = reduced(rows, self.aggregation)

        def changed(held: jax.Array) -> jax.Array:
            try:
                return getattr(held.at[index], VERBS[verb])(rows)
            except ValueError as error:
                raise ValueError(
                    f"Cannot assign to a part of variable '{self.name}': it has shape {held[index].shape}, and the "
                    f"value shape {rows.shape}."
                ) from error

        return self._change(Update(self, VERBS[verb], rows, detail=index), changed, [value])

    def _scatter(self, verb: str, slices: IndexedSlices) -> Any:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {slices!r}. "
                "Write tf.IndexedSlices(values=rows, indices=row_numbers)."
            )
        own = self.synchronization is VariableSynchronization.ON_READ
        if own and self._strategy.has_components:
            raise NotImplementedError(
                f"{self.name} is ON_READ, which does not support scatter operations. Assign the whole "
                "value: variable.assign(tf.tensor_scatter_nd_update(...))."
            )
        if in_replica() and self._strategy.has_components:
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
        if self._strategy.has_components:
            raise NotImplementedError(
                f"{self.name} belongs to {self._strategy!r}, whose variables have no "
                "scatter_nd operations, as in TensorFlow. Use scatter_update and its like for rows, or "
                "assign the whole value."
            )
        return self._put(verb, tuple(jnp.moveaxis(jnp.asarray(indices), -1, 0)), updates)

    def _put(self, verb: str, positions: tuple[jax.Array, ...], rows: TensorLike) -> Any:
        held, rows = self._get(), self._typed(rows)
        places = existing(positions, held.shape, f"{self.name} has no element")
        return self._change(
            Update(self, verb, rows, places),
            lambda held: getattr(held.at[places], verb)(rows, mode="drop"),
        )
