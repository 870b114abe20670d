"""`tf.Variable` as a weight of Keras's layers, models and metrics, and as what its optimizers train.

Keras keeps lists of variables of its own class. A `tf.Variable` is in them as a `Weight`: a Keras variable
whose value is that of the `tf.Variable`. So both change together, and a step lifts the `tf.Variable`.

Internals of Keras, which tests/frontends/tf/keras/test_weights.py runs on every supported version:
`Variable._value`, `._direct_assign` and `._initialize_with_initializer`, `Tracker.track` and the stateless scope.
"""

import functools
from typing import Any

import jax.numpy as jnp
import keras
from keras.src.backend.common.global_state import get_global_attribute, set_global_attribute
from keras.src.backend.common.stateless_scope import get_stateless_scope
from keras.src.utils.tracking import is_tracking_enabled

from frontends.tf import nest
from frontends.tf._typing import Nested, TensorLike, VariableLike
from frontends.tf.graph import current_graph
from frontends.tf.module import Module
from frontends.tf.variable import Variable
from spmd.integrations.keras import KerasObject, Method
from spmd.replica import in_replica

_BASE: Any = keras.Variable
# By what a graph keeps the variables that layers assign, each with the operation that does.
UPDATES = "updates of Keras's layers"


class Weight(_BASE):
    """A Keras variable that stands for a `tf.Variable`.

    Attributes:
        stands_for: the `tf.Variable`, which holds the value.
    """

    def __init__(self, variable: Variable) -> None:
        """Makes a Keras variable; use `as_weight`, which makes one for each `tf.Variable`."""
        self.stands_for = variable
        # Keras makes no variable with a value in such a scope; this one has its value already.
        scope = get_global_attribute("stateless_scope")
        set_global_attribute("stateless_scope", None)
        try:
            super().__init__(
                _no_value,
                shape=variable._held_shape(),
                dtype=str(variable.dtype),
                trainable=variable.trainable,
                autocast=False,
                aggregation=variable.aggregation.name.lower(),
                synchronization=variable.synchronization.name.lower(),
                name=str(variable.name).removesuffix(":0").rpartition("/")[2],
            )
        finally:
            set_global_attribute("stateless_scope", scope)
        constraint = variable.constraint
        if constraint is not None:
            self.constraint = lambda _: constraint(variable)

    def _initialize_with_initializer(self, initializer: object) -> None:
        pass

    @property
    def _value(self) -> Any:
        return self.stands_for.value()

    @_value.setter
    def _value(self, value: TensorLike) -> None:
        variable = self.stands_for
        if value is None:
            return  # Keras's fit drops values that it sets again later
        if variable.kind == "local" and not in_replica():
            variable.assign(value)
        else:
            # All replicas hold the same new value: there is nothing to aggregate.
            variable._set(jnp.asarray(value, variable.dtype))

    def _direct_assign(self, value: TensorLike) -> None:
        graph = current_graph()
        if graph is None:
            super()._direct_assign(value)
            return
        new = self.stands_for.assign(value)  # once it is fetched
        graph.kept.setdefault(UPDATES, []).append((self.stands_for, graph.operation_of(new)))

    def scoped_value(self) -> Any:
        """Returns the value in Keras's stateless scope; None outside of one."""
        scope: Any = get_stateless_scope()
        return None if scope is None else scope.get_current_value(self)

    def set_scoped(self, value: TensorLike) -> bool:
        """Records a new value in Keras's stateless scope; returns whether there is one."""
        scope: Any = get_stateless_scope()
        if scope is not None:
            scope.add_update((self, value))
        return scope is not None


def _no_value(shape: object, dtype: object = None) -> Any:
    raise AssertionError("a weight that stands for a tf.Variable has a value")


def as_weight(variable: VariableLike) -> VariableLike:
    """Returns the one Keras variable that stands for a `tf.Variable`; any other object as it is."""
    if not isinstance(variable, Variable):
        return variable
    if variable._weight is None:
        variable._weight = Weight(variable)
    return variable._weight


def track_variables(track: Method, /, self: KerasObject, attr: object) -> object:
    """Wraps `Tracker.track`, Keras's tracker of attributes: tracks a `tf.Variable`, and what a `tf.Module` holds."""
    if isinstance(attr, Module):
        attr.follow(functools.partial(_track_parts, track, self))
        _track_parts(track, self, list(vars(attr).values()))
        return attr
    if not isinstance(attr, Variable):
        return track(self, attr)
    if is_tracking_enabled():
        # TensorFlow's layers may make variables at any time.
        locked, self.locked = self.locked, False
        try:
            track(self, as_weight(attr))
        finally:
            self.locked = locked
    return attr


def _track_parts(track: Method, tracker: KerasObject, value: Nested) -> None:
    """Tracks what a module holds in an attribute; plain values belong to the module alone."""
    for part in nest.flatten(value):
        if isinstance(part, (Variable, Module, keras.Layer)):
            track_variables(track, tracker, part)
