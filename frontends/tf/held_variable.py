"""What a `tf.Variable` holds, and how it is read in replicas and between them."""

from typing import Any, Never, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

import spmd
from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf._user_view import as_dtype_seen, as_shape_seen, seen_by_users
from frontends.tf.aggregation import (
    VariableAggregation,
    VariableSynchronization,
    combined,
)
from frontends.tf.distribute.device_names import devices_of, long_name
from frontends.tf.distribute.scope import StrategyLike, WrongMeshError
from frontends.tf.graph import Operation, condition, current_graph
from frontends.tf.ops.map_stream import is_only_for_shapes, require_no_write
from frontends.tf.tensor_shape import TensorShape
from frontends.tf.variable_component import VariableComponent, component_names
from spmd.replica import ArrayLike, PerReplica, TracedPerReplica, current_frame, in_replica
from spmd.state import Update, described, describing
from spmd.topology import layout_of, place


class _Weight(Protocol):
    """What stands for the variable in Keras, see frontends/tf/keras/_weights.py."""

    def scoped_value(self) -> jax.Array | None: ...

    def set_scoped(self, value: TensorLike) -> bool: ...


class HeldVariable(ArrayLike, spmd.Variable):
    """What a variable holds and how it is read: one value, or with `ON_READ` one for each replica.

    Attributes:
        aggregation: how what replicas write is combined.
        synchronization: when it is combined.
    """

    __slots__ = (
        "_declared",
        "_replicas",
        "_strategy",
        "_weight",
        "aggregation",
        "synchronization",
    )

    aggregation: VariableAggregation
    synchronization: VariableSynchronization
    _declared: TensorShape | None
    _replicas: int
    _strategy: StrategyLike
    _weight: _Weight | None

    def value(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Returns the current value.

        Returns:
            In a replica its own value; otherwise that of all replicas, combined if `ON_READ`.

        Raises:
            ValueError: the variable is `ON_READ` without an aggregation, and this is no replica.
        """
        held = self._get()
        own = self.synchronization is VariableSynchronization.ON_READ and not in_replica()
        if not own or not self._strategy.has_components:
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
        return combined(held, self.aggregation)

    def read_value(self) -> Any:
        """Returns a copy of the current value; see `value`.

        A tape treats the array that `value` returned as the variable; it does not treat this copy so.
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
        return np.asarray(value)[()]

    @property
    def op(self) -> Operation:
        """What stands for the operation that makes the variable in TensorFlow 1: it has its name, and does nothing.

        Source: `tf.Variable.op`.
        """
        return Operation(str(self.name).removesuffix(":0"))

    initializer = op

    def eval(self, session: Any = None) -> Never:
        """Raises an error that says what to write: there is no session.

        Raises:
            NotImplementedError: always.

        Source: `tf.Variable.eval`.
        """
        raise NotImplementedError(
            f"{self.name}.eval() needs a session, and there are none. The variable has its value already: write v.numpy()."
        )

    def initialized_value(self) -> Any:
        """Returns the current value: variables have one from the first on.

        Source: `tf.compat.v1.Variable.initialized_value`.
        """
        return self.read_value()

    initial_value = property(initialized_value)

    @property
    def values(self) -> tuple[Any, ...]:
        """The value on every replica, in order, each with the name of the variable's component there."""
        own = self.per_replica()
        split = isinstance(own, (PerReplica, TracedPerReplica))
        values = spmd.step.local_values(own) if split else (own,) * self._replicas
        names = component_names(str(self.name), len(values))
        return tuple(map(VariableComponent, values, names))

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
        # An assigned value may not be on the replicas' devices yet.
        held = place(held, layout_of(self._strategy.mesh).local)
        return PerReplica(held, held.shape[0], stacked=True)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Any:
        """Returns some rows; see `tf.gather`."""
        return jnp.take(self.value(), jnp.asarray(indices), axis=0)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Any:
        """Returns some elements or slices; see `scatter_nd_update` for `indices`."""
        return self.value()[tuple(jnp.moveaxis(jnp.asarray(indices), -1, 0))]

    def _held_shape(self) -> tuple[int, ...]:
        shape = jnp.shape(self._value)
        stacked = self.kind == "local" and self._frame is None
        return shape[1:] if stacked else shape

    shape = seen_by_users(
        lambda self: self._held_shape(),
        lambda self: self.get_shape(),
        "Shape of the value on one replica.",
    )
    dtype = seen_by_users(
        lambda self: self._value.dtype,
        lambda self: as_dtype_seen(self._value.dtype),
        "Type of the elements.",
    )

    @property
    def _is_distributed(self) -> bool:
        """Whether it is a `tf.distribute.DistributedValues`."""
        return self._strategy.has_components

    @property
    def distribute_strategy(self) -> StrategyLike:
        """The strategy in whose scope the variable was made.

        Raises:
            AttributeError: it is one of a single device, whose variables are plain ones, as in TensorFlow.
        """
        if not (self._strategy.has_components or self._strategy.num_replicas_in_sync > 1):
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute 'distribute_strategy': {self.name} was made "
                f"with {self._strategy!r}, which distributes nothing."
            )
        return self._strategy

    @property
    def device(self) -> str:
        """Device of the first replica's value; of one that lives on parameter servers, its first server."""
        servers = devices_of(self)
        return servers[0] if servers else long_name(self._strategy.mesh.local_devices[0])

    def get_shape(self) -> TensorShape:
        """Returns the shape; of a variable that was made with `shape=`, that one."""
        return as_shape_seen(self._held_shape()) if self._declared is None else self._declared

    def __jax_array__(self) -> Any:
        return self.value()

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.value(), dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]

    def __iter__(self) -> Any:
        return iter(self.value())

    def __len__(self) -> int:
        return len(self.value())

    def _get(self) -> Any:
        frame = current_frame()
        if self.kind == "local" and frame is not None and not frame.in_replica:
            mesh = self._strategy.mesh
            if mesh != frame.mesh:
                # In a tf.function this may be the only sign of the replicas that it is for.
                raise WrongMeshError(frame.mesh, mesh)
        scoped = None if self._weight is None else self._weight.scoped_value()
        held = super()._get() if scoped is None else scoped
        graph = current_graph()
        return held if graph is None else graph.value_after(self, held)

    def _set(self, value: TensorLike) -> None:
        require_no_write()
        if is_only_for_shapes():
            return  # another thread may read the variable meanwhile
        if self._weight is not None and self._weight.set_scoped(value):
            return
        changes = condition()
        if changes is None:
            super()._set(value)
            return
        value = jnp.where(changes, value, self._get())
        update = described(self)
        if update is not None and update.verb in ("add", "subtract") and update.index is None:
            # On parameter servers, a value that did not change would take back what other workers have added.
            update = Update(self, update.verb, jnp.where(changes, update.operand, 0))
        else:
            update = Update(self, "set", value)
        with describing(update):
            super()._set(value)
