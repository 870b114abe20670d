"""`tf.Variable`: an array that keeps its place, over the engine's state."""

import functools
from abc import ABCMeta
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization, member
from frontends.tf.assign import loses
from frontends.tf.distribute.scope import get_strategy
from frontends.tf.distribute.values import DistributedValues
from frontends.tf.distribute.variable_parts import VariablePart, parts_of
from frontends.tf.dtypes import jax_dtype
from frontends.tf.graph import current_graph
from frontends.tf.ops.initial_values import init_scope
from frontends.tf.ops.name_scope import in_name_scope, name_scope
from frontends.tf.reference import Reference
from frontends.tf.scatter import ScatteredVariable
from frontends.tf.tensor_shape import TensorShape
from frontends.tf.variable_component import shown
from frontends.tf.variable_creators import created
from spmd.replica import current_frame


class TracedInitialValueError(ValueError):
    """The initial value of a variable is computed by the program that makes it."""


class _FoundInGraphs(ABCMeta):
    """Has a model function that is called again get the variables of the first call, as it does in TensorFlow's sessions."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        collections = kwargs.pop("collections", None)
        return created(cls, functools.partial(cls._make, collections), args, kwargs)

    def _make(cls, collections: Any, *args: Any, **kwargs: Any) -> Any:
        graph = current_graph()
        if graph is None:
            return super().__call__(*args, **kwargs)

        def make(name: str) -> Any:
            with name_scope(""):  # the name is whole
                return super(_FoundInGraphs, cls).__call__(*args, **kwargs | {"name": name})

        return graph.variable(in_name_scope(kwargs.get("name") or "Variable"), make, collections)


class Variable(ScatteredVariable, metaclass=_FoundInGraphs):
    """An array that can be assigned.

    A model function of `tf.estimator` that makes a variable of some name finds it again in later calls, as it is then.

    With `ON_WRITE` (what `AUTO` means) it has one value, equal on all replicas; what a replica assigns is
    combined over replicas first, by its aggregation. Without one (`NONE`) all replicas must assign the
    same; a step is refused that does not prove it (TensorFlow lets replicas drift apart).

    With `ON_READ` every replica has a value of its own; between the replicas, reading combines them.
    Strategies without components (all but `MirroredStrategy`) keep one value there, too.

    Attributes:
        aggregation: how what replicas write is combined, a `tf.VariableAggregation`.
        constraint: the function that an optimizer applies after its update, or None.
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

    __slots__ = ("constraint", "trainable")

    def __init__(
        self,
        initial_value: TensorLike = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: object = None,
        name: str | None = None,
        variable_def: object = None,
        dtype: DTypeLike = None,
        import_scope: object = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization | str = VariableSynchronization.AUTO,
        aggregation: VariableAggregation | str = VariableAggregation.NONE,
        shape: ShapeLike = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        """Makes a variable.

        Args:
            initial_value: array, number, nested list, or a function that returns one.
            trainable: whether a tape takes it as a source; None means yes, unless `ON_READ`.
            name: shown in messages.
            dtype: type of the elements; None takes that of the initial value.
            synchronization: a `tf.VariableSynchronization`.
            aggregation: a `tf.VariableAggregation`.
            shape: a shape that the initial value fits and later ones must fit, such as
                `tf.TensorShape([None, 3])`; None takes the initial value's. A step that was compiled is
                compiled again for a new shape.
            constraint: maps a value to one that is allowed; optimizers apply it after their update.

        Raises:
            ValueError: no initial value, an unknown mode, or one that the strategy cannot keep.
        """
        self._weight = None
        self.synchronization = member(VariableSynchronization, synchronization, name)
        self.aggregation = member(VariableAggregation, aggregation, name)
        if initial_value is None:
            raise ValueError(
                f"A tf.Variable needs an initial value, but {name or 'this one'} got none. "
                "Give it one: tf.Variable(tf.zeros([2]))."
            )
        strategy = self._strategy = get_strategy()
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
        with init_scope():
            value = _array(initial_value() if callable(initial_value) else initial_value, dtype)
        self.constraint = constraint
        self._declared = None if shape is None else TensorShape(shape)
        if self._declared is not None and not self._declared.is_compatible_with(value.shape):
            raise ValueError(
                f"The initial value's shape ({value.shape}) is not compatible with the explicitly "
                f"supplied `shape` argument ({self._declared})."
            )
        if isinstance(value, Tracer):
            raise TracedInitialValueError(
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
        name = in_name_scope(f"{name or 'Variable'}:0")
        if on_read and replicas > 1:
            with jax.ensure_compile_time_eval():
                stacked = jnp.broadcast_to(value, (replicas, *value.shape))
            super().__init__(stacked, kind="local", name=name)
        else:
            super().__init__(value, name=name)
        # Keras makes a layer's variables while it infers shapes, in a trace within that of the model function.
        graph = current_graph()
        self._made_in_step(None if graph is None else graph.trace)

    def ref(self) -> Reference:
        """Returns an object that stands for the variable in sets and dictionaries.

        Source: `tf.Variable.ref`.
        """
        return Reference(self)

    experimental_ref = ref

    @property
    def variables(self) -> list[VariablePart]:
        """The parts of a variable that is divided among parameter servers.

        Raises:
            AttributeError: it is not divided.

        Source: `ShardedVariable.variables`, what `tf.Variable` makes under a `variable_partitioner`.
        """
        parts = parts_of(self)
        if not parts:
            raise AttributeError(
                f"{self.name} has no parts: it is not divided among parameter servers. Use the variable itself."
            )
        return parts

    def __repr__(self) -> str:
        # In a step that did not find the variable, whose error names it, its parts cannot be read.
        is_whole = current_frame() is not None or not self._strategy.has_components
        if is_whole or isinstance(self._value, Tracer):
            return shown(self.name, self._value, self.get_shape())
        own = self.synchronization is VariableSynchronization.ON_READ
        lines = [
            f"  {index}: {shown(one.name, one.value(), self.get_shape())}"
            for index, one in enumerate(self.values)
        ]
        return f"{'SyncOnRead' if own else 'Mirrored'}Variable:{{\n" + ",\n".join(lines) + "\n}"

    __hash__ = None  # pyright: ignore[reportAttributeAccessIssue, reportAssignmentType]


DistributedValues.register(Variable)


def new_variable(*args: Any, **kwargs: Any) -> Variable:
    """Makes a `tf.Variable` that a model function's graph does not keep by its name: the caller does."""
    return ABCMeta.__call__(Variable, *args, **kwargs)


def _array(value: TensorLike, dtype: DTypeLike) -> jax.Array:
    if isinstance(value, Variable):
        value = value.value()
    if dtype is None and not isinstance(value, (jax.Array, np.ndarray, np.generic)):
        # Python's numbers: 32 bits, as everywhere in TensorFlow.
        array = np.asarray(value)
        dtype = {"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype)
    elif dtype is not None and not isinstance(value, jax.Array) and loses(np.asarray(value), dtype):
        raise TypeError(
            f"Cannot convert {value!r} to {jnp.dtype(dtype).name}. Round it first, or leave dtype= out."
        )
    held = None if dtype is None else jax_dtype(dtype)
    return jnp.array(value, held)  # a copy: a step may take the variable's memory
