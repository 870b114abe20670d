"""`tf.Variable`: an array that keeps its place, over the engine's state."""

import enum
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

import spmd
from frontends.tf.distribute.device_names import long_name
from frontends.tf.distribute.scope import WrongMeshError, get_strategy
from frontends.tf.distribute.values import DistributedValues
from frontends.tf.indexed_slices import IndexedSlices, all_reduced
from spmd.replica import (
    ArrayLike,
    PerReplica,
    TracedPerReplica,
    all_reduce,
    current_frame,
    in_replica,
)
from spmd.topology import REPLICA_AXIS, place, split_sharding


class VariableSynchronization(enum.Enum):
    """When the values that replicas write to a variable are combined.

    Source: `tf.VariableSynchronization`.
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the values that replicas write to a variable are combined.

    Source: `tf.VariableAggregation`.
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class Variable(ArrayLike, spmd.Variable):
    """An array that can be assigned.

    With `ON_WRITE` (what `AUTO` means) it has one value, equal on all replicas; what a replica assigns is
    combined over replicas first, by its aggregation. Without one (`NONE`) all replicas must assign the
    same; a step is refused that does not prove it (TensorFlow lets replicas drift apart).

    With `ON_READ` every replica has a value of its own; between the replicas, reading combines them.
    Strategies without components (all but `MirroredStrategy`) keep one value there, too.

    Attributes:
        aggregation: how what replicas write is combined, a `tf.VariableAggregation`.
        distribute_strategy: the strategy in whose scope the variable was made.
        synchronization: when it is combined, a `tf.VariableSynchronization`.
        trainable: whether a tape takes it as a source.

    Examples:
        >>> from frontends import tf
        >>> counter = Variable(1.0)
        >>> counter.assign_add(2.0).numpy()
        np.float32(3.0)
        >>> float(counter * 2)
        6.0

    Source: `tf.Variable`.
    """

    __slots__ = (
        "_replicas",
        "_weight",
        "aggregation",
        "distribute_strategy",
        "synchronization",
        "trainable",
    )

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        """Makes a variable.

        Args:
            initial_value: array, number, nested list, or a function that returns one.
            trainable: whether a tape takes it as a source; None means yes, unless `ON_READ`.
            validate_shape: accepted; shapes are always known.
            caching_device: accepted.
            name: shown in messages.
            variable_def: accepted.
            dtype: type of the elements; None takes that of the initial value.
            import_scope: accepted.
            constraint: accepted; optimizers of Keras apply their own variables' constraints.
            synchronization: a `tf.VariableSynchronization`.
            aggregation: a `tf.VariableAggregation`.
            shape: accepted if it is the initial value's.
            experimental_enable_variable_lifting: accepted.

        Raises:
            ValueError: no initial value, an unknown mode, or one that the strategy cannot keep.
        """
        del validate_shape, caching_device, variable_def, import_scope, constraint
        del experimental_enable_variable_lifting
        self._weight: Any = None  # what stands for it in Keras, see frontends/tf/keras/_weights.py
        self.synchronization = _member(VariableSynchronization, synchronization, name)
        self.aggregation = _member(VariableAggregation, aggregation, name)
        if initial_value is None:
            raise ValueError(
                f"A tf.Variable needs an initial value, but {name or 'this one'} got none. "
                "Give it one: tf.Variable(tf.zeros([2]))."
            )
        strategy = self.distribute_strategy = get_strategy()
        if self.synchronization is VariableSynchronization.NONE and strategy.has_components:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with tf.distribute strategy. "
                "Please change the `synchronization` for variable: " + str(name)
            )
        if self.synchronization is VariableSynchronization.AUTO and strategy.has_components:
            self.synchronization = VariableSynchronization.ON_WRITE
        on_read = self.synchronization is VariableSynchronization.ON_READ
        self.trainable = not on_read if trainable is None else bool(trainable)
        # In a step as well: a variable that a replica makes starts from a value, not from a trace.
        with jax.ensure_compile_time_eval():
            value = _array(initial_value() if callable(initial_value) else initial_value, dtype)
        if shape is not None and tuple(shape) != value.shape:
            raise ValueError(
                f"The initial value's shape ({value.shape}) is not compatible with the explicitly "
                f"supplied `shape` argument ({tuple(shape)})."
            )
        if isinstance(value, Tracer):
            raise ValueError(
                f"The initial value of {name or 'a tf.Variable'} is computed by the step that makes it, "
                "but a variable outlives the step. Make it before the step, or give it a function that "
                "does not depend on the step: tf.Variable(lambda: tf.zeros([2]))."
            )
        if (
            self.aggregation is VariableAggregation.MEAN
            and strategy.has_components
            and not jnp.issubdtype(value.dtype, jnp.inexact)
        ):
            raise ValueError(
                "creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is not "
                f"supported, please use a different aggregation or dtype: {name} is {value.dtype}."
            )
        replicas = self._replicas = strategy.num_replicas_in_sync if strategy.has_components else 1
        name = f"{name or 'Variable'}:0"
        if on_read and replicas > 1:
            stacked = jnp.broadcast_to(value, (replicas, *value.shape))
            super().__init__(stacked, kind="local", name=name)
        else:
            super().__init__(value, name=name)
        self._made_in_step()

    # Reading.

    def value(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Returns the current value.

        Returns:
            In a replica its own value; otherwise that of all replicas, combined if `ON_READ`.

        Raises:
            ValueError: the variable is `ON_READ` without an aggregation, and this is no replica.
        """
        held = self._get()
        own = self.synchronization is VariableSynchronization.ON_READ and not in_replica()
        if not own or not self.distribute_strategy.has_components:
            return held
        if self.aggregation is VariableAggregation.NONE:
            # With one replica as well: a script that works with one should work with two.
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` NONE to `tf.distribute.ReduceOp`: "
                f"{self.name} has a value on each replica, and no aggregation says how to combine them. "
                "Read it in a replica, or make it with aggregation=tf.VariableAggregation.SUM."
            )
        if self.kind != "local":
            return held
        if current_frame() is not None:
            return _combined_in_step(held, self.aggregation)
        return _COMBINED[self.aggregation](held)

    def read_value(self) -> Any:
        """Returns a copy of the current value; see `value`.

        A tape takes an array that was read before for the variable's value, if it is the same object; the
        copy is none.
        """
        return jnp.copy(self.value())

    def numpy(self) -> Any:
        """Returns the current value in host memory.

        Raises:
            NotImplementedError: called in a compiled step.
        """
        value = self.value()
        if isinstance(value, Tracer):
            raise NotImplementedError(
                f"numpy() of {self.name} was called while a step is traced: there are no values yet. "
                "Return the value from the step, and convert it outside."
            )
        array = np.asarray(value)
        return array[()] if array.ndim == 0 else array

    @property
    def values(self) -> tuple[Any, ...]:
        """The value on every replica, in order."""
        own = self.per_replica()
        if isinstance(own, (PerReplica, TracedPerReplica)):
            return spmd.local_values(own)
        return (own,) * self._replicas

    def per_replica(self) -> Any:
        """Returns what `strategy.reduce` and `gather` work on.

        Returns:
            A per-replica value, if every replica has a value of its own; otherwise the one value.
        """
        held = self._get()
        if self.kind != "local" or in_replica():
            return held
        if current_frame() is not None:
            return TracedPerReplica(held)
        # Somebody may have assigned a value that is not on the replicas' devices yet.
        held = place(held, split_sharding(self.distribute_strategy.mesh))
        return PerReplica(held, held.shape[0], stacked=True)

    def _get(self) -> Any:
        frame = current_frame()
        if self.kind == "local" and frame is not None and not frame.in_replica:
            mesh = self.distribute_strategy.mesh
            if mesh != frame.mesh:
                # Nothing else in a tf.function may tell whose replicas it is for.
                raise WrongMeshError(frame.mesh, mesh)
        scoped = None if self._weight is None else self._weight.scoped_value()
        return super()._get() if scoped is None else scoped

    def _set(self, value: Any) -> None:
        if self._weight is None or not self._weight.set_scoped(value):
            super()._set(value)

    # Writing.

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replaces the value.

        Args:
            value: array of the variable's shape.
            use_locking: accepted.
            name: accepted.
            read_value: accepted.

        Returns:
            The variable; in a compiled step, its new value.

        Raises:
            ValueError: shape or type do not fit.

        Source: `tf.Variable.assign`.
        """
        del use_locking, name, read_value
        return self._write(value, lambda _, new: new, "assign")

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds to the value.

        Args:
            delta: array of the variable's shape.
            use_locking: accepted.
            name: accepted.
            read_value: accepted.

        Returns:
            The variable; in a compiled step, its new value.

        Raises:
            ValueError: shape or type do not fit, or the variable is an `ON_READ` sum and this is no
                replica.

        Source: `tf.Variable.assign_add`.
        """
        del use_locking, name, read_value
        return self._write(delta, operator.add, "assign_add")

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts from the value.

        Args:
            delta: array of the variable's shape.
            use_locking: accepted.
            name: accepted.
            read_value: accepted.

        Returns:
            The variable; in a compiled step, its new value.

        Raises:
            ValueError: shape or type do not fit, or the variable is an `ON_READ` sum and this is no
                replica.

        Source: `tf.Variable.assign_sub`.
        """
        del use_locking, name, read_value
        return self._write(delta, operator.sub, "assign_sub")

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Adds rows to some rows; see `scatter_update`."""
        del use_locking, name
        return self._scatter("add", sparse_delta)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Subtracts rows from some rows; see `scatter_update`."""
        del use_locking, name
        return self._scatter("subtract", sparse_delta)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Multiplies some rows by rows; see `scatter_update`."""
        del use_locking, name
        return self._scatter("multiply", sparse_delta)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Divides some rows by rows; see `scatter_update`."""
        del use_locking, name
        return self._scatter("divide", sparse_delta)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Takes the larger of some rows and others, element by element; see `scatter_update`."""
        del use_locking, name
        return self._scatter("max", sparse_delta)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Takes the smaller of some rows and others, element by element; see `scatter_update`."""
        del use_locking, name
        return self._scatter("min", sparse_delta)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Replaces some rows.

        Args:
            sparse_delta: a `tf.IndexedSlices`: rows, and where they go.
            use_locking: accepted.
            name: accepted.

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
        del use_locking, name
        return self._scatter("set", sparse_delta)

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Adds to some elements or slices; see `scatter_nd_update`."""
        del name
        return self._scatter_nd("add", indices, updates)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Subtracts from some elements or slices; see `scatter_nd_update`."""
        del name
        return self._scatter_nd("subtract", indices, updates)

    def scatter_nd_max(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Takes the larger of some elements or slices and others; see `scatter_nd_update`."""
        del name
        return self._scatter_nd("max", indices, updates)

    def scatter_nd_min(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Takes the smaller of some elements or slices and others; see `scatter_nd_update`."""
        del name
        return self._scatter_nd("min", indices, updates)

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Replaces some elements or slices.

        Args:
            indices: integers of shape `(..., k)`: along the last axis, a place on the first `k` axes.
            updates: what goes there, of shape `indices.shape[:-1] + variable.shape[k:]`.
            name: accepted.

        Returns:
            The variable; in a compiled step, its new value.

        Raises:
            ValueError: there is no such place, or the type does not fit. In a compiled step, places that
                do not exist are left out.
            NotImplementedError: the variable belongs to a `MirroredStrategy`, as in TensorFlow.

        Source: `tf.Variable.scatter_nd_update`.
        """
        del name
        return self._scatter_nd("set", indices, updates)

    def sparse_read(self, indices: Any, name: Any = None) -> Any:
        """Returns some rows; see `tf.gather`."""
        del name
        return jnp.take(self.value(), jnp.asarray(indices), axis=0)

    def gather_nd(self, indices: Any, name: Any = None) -> Any:
        """Returns some elements or slices; see `scatter_nd_update` for `indices`."""
        del name
        return self.value()[tuple(jnp.moveaxis(jnp.asarray(indices), -1, 0))]

    def _scatter(self, verb: str, slices: Any) -> Any:
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
            return jax.tree.map(lambda leaf: _first_only(jnp.asarray(leaf)), slices)
        if verb in ("set", "max", "min"):
            raise NotImplementedError(
                f"{self.name} has the aggregation {self.aggregation.name}, which does not say which "
                "replica's rows to take. Make it with aggregation="
                "tf.VariableAggregation.ONLY_FIRST_REPLICA, or write the same rows in all replicas, with "
                "NONE."
            )
        replicas = get_strategy().num_replicas_in_sync
        return all_reduced(slices, self.aggregation.name.lower(), replicas)

    def _scatter_nd(self, verb: str, indices: Any, updates: Any) -> Any:
        if self.distribute_strategy.has_components:
            raise NotImplementedError(
                f"{self.name} belongs to {self.distribute_strategy!r}, whose variables have no "
                "scatter_nd operations, as in TensorFlow. Use scatter_update and its like for rows, or "
                "assign the whole value."
            )
        return self._put(verb, tuple(jnp.moveaxis(jnp.asarray(indices), -1, 0)), updates)

    def _put(self, verb: str, places: tuple[jax.Array, ...], rows: Any) -> Any:
        held, rows = self._get(), self._typed(rows)
        found: list[jax.Array] = []
        for indices, size in zip(places, held.shape, strict=False):
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

    def _write(self, operand: Any, combine: Callable[[Any, Any], Any], verb: str) -> Any:
        held = self._get()
        if isinstance(operand, PerReplica):
            operand = self._of_each(operand)
            if self.kind == "local":
                self._set(combine(held, jnp.asarray(operand, self.dtype)))
                return self
        new = self._checked(operand)
        own = self.synchronization is VariableSynchronization.ON_READ
        if own and self.distribute_strategy.has_components:
            if not in_replica():
                new = self._divided(new, verb)
                new = jnp.broadcast_to(new, held.shape)
        elif in_replica() and get_strategy().num_replicas_in_sync > 1:
            new = _REDUCED[self.aggregation](new)
        self._set(combine(held, new))
        return self.value() if current_frame() is not None else self

    def _of_each(self, value: PerReplica) -> Any:
        """Takes a value for each replica, as the variable holds it."""
        if self.kind == "local" and value.stacked and value.array.shape == self._value.shape:
            return value.array
        if value.num_replicas == 1:
            return value.values[0]
        raise ValueError(
            f"{self.name} is assigned a value for each replica, but it has one value, equal on all of "
            'them. Combine them first: variable.assign(strategy.reduce("MEAN", value, axis=None)).'
        )

    def _divided(self, value: Any, verb: str) -> Any:
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

    def _checked(self, operand: Any) -> Any:
        if isinstance(operand, Variable):
            operand = operand.value()
        new = self._typed(operand)
        if new.shape != self.shape:
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable shape "
                f"{self.shape}, and the assigned value shape {new.shape} are incompatible."
            )
        # A copy: two variables with one array would be one source to a tape.
        return jnp.array(new, self.dtype)

    def _typed(self, operand: Any) -> Any:
        """Makes an array of an operand whose type fits."""
        new = operand if isinstance(operand, jax.Array) else np.asarray(operand)
        exact = isinstance(operand, (jax.Array, np.ndarray, np.generic))
        if not exact and _loses(new, self.dtype):
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

    # What it is.

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value on one replica."""
        shape = jnp.shape(self._value)
        stacked = self.kind == "local" and self._frame is None
        return shape[1:] if stacked else shape

    @property
    def dtype(self) -> Any:
        """Type of the elements."""
        return self._value.dtype

    @property
    def device(self) -> str:
        """Where the first replica's value lies."""
        return long_name(self.distribute_strategy.mesh.local_devices[0])

    def get_shape(self) -> tuple[int, ...]:
        """Returns the shape; see `shape`."""
        return self.shape

    def ref(self) -> "_Reference":
        """Returns an object that stands for the variable in sets and dictionaries.

        Source: `tf.Variable.ref`.
        """
        return _Reference(self)

    def __repr__(self) -> str:
        if self.kind != "local" or isinstance(self._value, Tracer):
            return self._shown(self.name, self._value)
        assert self.name is not None
        name = self.name.removesuffix(":0")
        names = [
            f"{name}/replica_{index}:0" if index else self.name for index in range(self._replicas)
        ]
        shown = [self._shown(name, value) for name, value in zip(names, self.values, strict=True)]
        lines = [f"  {index}: {one}" for index, one in enumerate(shown)]
        return "SyncOnReadVariable:{\n" + ",\n".join(lines) + "\n}"

    def _shown(self, name: str | None, value: Any) -> str:
        about = f"<tf.Variable '{name}' shape={self.shape} dtype={self.dtype}"
        if isinstance(value, Tracer):
            return f"{about}>"
        array = np.asarray(value)
        return f"{about}, numpy={array.item() if array.ndim == 0 else array!r}>"

    # In arithmetic it is its value.

    def __jax_array__(self) -> Any:
        return self.value()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        del copy
        return np.asarray(self.value(), dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]

    def __iter__(self) -> Any:
        return iter(self.value())

    def __len__(self) -> int:
        return len(self.value())

    __hash__ = None  # pyright: ignore[reportAssignmentType]


DistributedValues.register(Variable)


class _Reference:
    """Stands for a variable where something hashable is needed."""

    __slots__ = ("_variable",)

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def deref(self) -> Variable:
        """Returns the variable."""
        return self._variable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reference) and other._variable is self._variable

    def __hash__(self) -> int:
        return id(self._variable)


def _first_only(value: Any) -> Any:
    first = jax.lax.axis_index(REPLICA_AXIS) == 0
    value = jnp.asarray(value)
    # A sum of booleans is a number.
    return all_reduce(jnp.where(first, value, jnp.zeros_like(value))).astype(value.dtype)


# What replicas assign, before it is.
_REDUCED: dict[VariableAggregation, Callable[[Any], Any]] = {
    VariableAggregation.NONE: lambda value: value,
    VariableAggregation.SUM: lambda value: all_reduce(value, "sum"),
    VariableAggregation.MEAN: lambda value: all_reduce(value, "mean"),
    VariableAggregation.ONLY_FIRST_REPLICA: _first_only,
}

# What the values of all replicas, stacked, are when read between them.
_COMBINED: dict[VariableAggregation, Callable[[Any], Any]] = {
    VariableAggregation.SUM: lambda held: held.sum(0, dtype=held.dtype),
    VariableAggregation.MEAN: lambda held: held.mean(0, dtype=held.dtype),
    VariableAggregation.ONLY_FIRST_REPLICA: lambda held: held[0],
}


def _combined_in_step(value: Any, aggregation: VariableAggregation) -> Any:
    if aggregation is VariableAggregation.MEAN:
        return jax.lax.pmean(value, REPLICA_AXIS)
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return jax.lax.all_gather(value, REPLICA_AXIS)[0]
    return jax.lax.psum(value, REPLICA_AXIS)


def _array(value: Any, dtype: Any) -> jax.Array:
    if isinstance(value, Variable):
        value = value.value()
    if dtype is None and not isinstance(value, (jax.Array, np.ndarray, np.generic)):
        # Python's numbers: 32 bits, as everywhere in TensorFlow.
        array = np.asarray(value)
        dtype = {"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype)
    elif (
        dtype is not None and not isinstance(value, jax.Array) and _loses(np.asarray(value), dtype)
    ):
        raise TypeError(
            f"Cannot convert {value!r} to {jnp.dtype(dtype).name}. Round it first, or leave dtype= out."
        )
    return jnp.array(value, dtype)  # a copy: a step may take the variable's memory


def _loses(array: Any, dtype: Any) -> bool:
    return array.dtype.kind == "f" and jnp.issubdtype(dtype, jnp.integer)


def _member(modes: type[Any], mode: Any, name: str | None) -> Any:
    if isinstance(mode, modes):
        return mode
    what = modes.__name__.removeprefix("Variable").lower()
    if isinstance(mode, str) and mode.upper() in modes.__members__:
        return modes.__members__[mode.upper()]
    raise ValueError(
        f"Invalid variable {what} mode: {mode} for variable: {name}. Expected one of "
        + ", ".join(f"tf.{modes.__name__}.{member}" for member in modes.__members__)
        + "."
    )
