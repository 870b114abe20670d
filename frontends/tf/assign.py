"""Assigning to a `tf.Variable`: whole values, combined over replicas first."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization, reduced
from frontends.tf.distribute.scope import get_strategy
from frontends.tf.graph import current_graph
from frontends.tf.held_variable import HeldVariable
from frontends.tf.ops.convert import named
from spmd.replica import PerReplica, current_frame, in_replica
from spmd.state import Update, describing

# The methods of JAX's `x.at[index]`, which updates are named after.
VERBS = {"assign": "set", "assign_add": "add", "assign_sub": "subtract"}


def _updating(verb: str, combine: Callable[[Any, Any], Any], does: str) -> Callable[..., Any]:
    """Makes a method that changes the value by another one."""

    def update(
        self: "AssignedVariable",
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        return self._write(delta, combine, verb)

    return named(f"AssignedVariable.{verb}", f"{does} the value; see `assign`.", update)


class AssignedVariable(HeldVariable):
    """A variable that can be assigned, in replicas and between them."""

    __slots__ = ()

    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replaces the value by another one of the same shape.

        Returns:
            The variable; in a compiled step, its new value. In a model function, a tensor of that value, and
            nothing is assigned until the tensor is fetched.

        Raises:
            ValueError: shape or type do not fit; `assign_add` or `assign_sub` is called outside of a replica on
                an `ON_READ` sum; or replicas of `CentralStorageStrategy` write without an aggregation.

        Source: `tf.Variable.assign`.
        """
        return self._write(value, lambda _, new: new, "assign")

    assign_add = _updating("assign_add", operator.add, "Adds to")
    assign_sub = _updating("assign_sub", operator.sub, "Subtracts from")

    def _write(self, operand: TensorLike, combine: Callable[[Any, Any], Any], verb: str) -> Any:
        held = self._get()
        if isinstance(operand, PerReplica):
            operand = self._of_each(operand)
            if self.kind == "local":
                self._set(combine(held, jnp.asarray(operand, self.dtype)))
                return self
        new = self._checked(operand)
        own = self.synchronization is VariableSynchronization.ON_READ
        if own and self._strategy.has_components:
            if not in_replica():
                new = self._divided(new, verb)
                new = jnp.broadcast_to(new, held.shape)
        elif in_replica() and get_strategy().num_replicas_in_sync > 1:
            self._check_aggregation()
            new = reduced(new, self.aggregation)
        return self._change(
            Update(self, VERBS[verb], new), lambda held: combine(held, new), [operand]
        )

    def _change(
        self, update: Update, changed: Callable[[Any], Any], inputs: Sequence[Any] = ()
    ) -> Any:
        """Changes the value; in a model function, once the result is fetched.

        Args:
            update: says what changes.
            changed: makes the new value of the one before.
            inputs: tensors of which it is made.
        """

        def write() -> None:
            with describing(update):
                self._set(changed(self._get()))

        graph = current_graph()
        if graph is not None:
            operation = graph.operation(f"{self._own_name()}/{update.verb}", write, inputs)
            return graph.with_effect(changed(self._get()), operation)
        write()
        return self.value() if current_frame() is not None else self

    def _own_name(self) -> str:
        return str(self.name).removesuffix(":0")

    def _check_aggregation(self) -> None:
        """Refuses what TensorFlow's central storage refuses in a replica."""
        if self._strategy.requires_aggregation and self.aggregation is VariableAggregation.NONE:
            raise ValueError(
                "You must specify an aggregation method to update a variable of CentralStorageStrategy in a replica: "
                f"{self.name} has none. Make it with aggregation=tf.VariableAggregation.SUM, MEAN or ONLY_FIRST_REPLICA."
            )

    def _of_each(self, value: PerReplica) -> Any:
        """Returns a per-replica value in the form in which the variable holds it."""
        if self.kind == "local" and value.stacked and value.array.shape == self._value.shape:
            return value.array
        if value.num_replicas == 1:
            return value.values[0]
        raise ValueError(
            f"{self.name} is assigned a value for each replica, but it has one value, equal on all of "
            'them. Combine them first: variable.assign(strategy.reduce("MEAN", value, axis=None)).'
        )

    def _divided(self, value: TensorLike, verb: str) -> Any:
        """Spreads a value over the replicas of an `ON_READ` variable."""
        if self.aggregation is not VariableAggregation.SUM:
            return value
        if verb != "assign":
            raise ValueError(
                f"{self.name} does not support `{verb}` in cross-replica context: it is ON_READ and "
                "its aggregation is a sum, so it is not clear which replica's part is meant. Assign the "
                "whole sum, or add in a replica."
            )
        replicas = self._replicas
        if replicas == 1:
            return value
        if current_frame() is not None:
            raise NotImplementedError(
                f"{self.name} is assigned between the replicas of a compiled step. Assign it outside of "
                "the step, or in a replica."
            )
        if jnp.issubdtype(value.dtype, jnp.integer):
            # TensorFlow loses the remainder.
            each = jnp.broadcast_to(value // replicas, (replicas, *value.shape))
            return each.at[0].add(value - replicas * (value // replicas))
        return value / replicas

    def _checked(self, operand: TensorLike) -> Any:
        if isinstance(operand, HeldVariable):
            operand = operand.value()
        new = self._typed(operand)
        if not self.get_shape().is_compatible_with(new.shape):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable shape "
                f"{self.get_shape()}, and the assigned value shape {new.shape} are incompatible."
            )
        # A copy: two variables with one array would be one source to a tape.
        return jnp.array(new, self.dtype)

    def _typed(self, operand: TensorLike) -> Any:
        """Converts an operand to an array, and checks its type."""
        new = operand if isinstance(operand, jax.Array) else np.asarray(operand)
        exact = isinstance(operand, (jax.Array, np.ndarray, np.generic))
        if not exact and loses(new, self.dtype):
            raise TypeError(
                f"Cannot convert {operand!r} to {self.dtype}, the type of {self.name}. Round it first, or "
                "make the variable of a floating-point type."
            )
        if exact and jax.dtypes.canonicalize_dtype(new.dtype) != self.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {self.dtype} for an array of dtype {new.dtype}: "
                f"{self.name} keeps its type. Convert it: tf.cast(value, tf.{self.dtype})."
            )
        return new


def loses(array: np.ndarray | jax.Array, dtype: DTypeLike) -> bool:
    """Tells whether a dtype would lose the fraction."""
    return array.dtype.kind == "f" and jnp.issubdtype(dtype, jnp.integer)
