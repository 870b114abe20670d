"""What layers share: names and variables as TensorFlow 1 has them."""

import re
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._typing import DTypeLike, Nested, ShapeLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collection
from frontends.tf.compat.v1.layers.input_spec import InputSpec
from frontends.tf.compat.v1.layers.lookup import constraint_of, initializer_of, regularizer_of
from frontends.tf.compat.v1.layers.padding import without_padding
from frontends.tf.compat.v1.variable_scopes import (
    Reuse,
    VariableScope,
    get_variable,
    variable_scope,
)
from frontends.tf.graph import Graph, Operation, default_graph
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.name_scope import name_scope
from frontends.tf.tensor_shape import TensorShape
from frontends.tf.variable import Variable


class Layer:
    """A function with variables, which it makes when it is first called and has afterwards.

    Its variables stand below a variable scope: that of the function's `name=`, or else one that is named after the layer
    and made unique in the scope of the first call (`dense`, `dense_1`, ...). A layer that outlives a call of the model
    function starts over in the next one, and finds its variables again.

    Subclasses define `build(input_shape)`, which calls `add_weight`, and `call(inputs, ...)`.

    Attributes:
        built: whether it has its variables.
        dtype: of its variables; None takes that of the first input.
        trainable: whether optimizers train them.
        input_spec: what it checks of its inputs, an `InputSpec` of one tensor, or one for each of several; None takes anything.
        losses: penalties that it added to `REGULARIZATION_LOSSES`.
        updates: operations that it added to `UPDATE_OPS`.

    Source: `tf.compat.v1.layers.Layer`.
    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | VariableScope | None = None,
        dtype: DTypeLike = None,
        *,
        activity_regularizer: Any = None,
        _scope: str | VariableScope | None = None,
        _reuse: Reuse = None,
    ) -> None:
        """Makes a layer.

        Args:
            trainable: see `Layer`.
            name: of the layer; that of its scope is unique, though.
            dtype: see `Layer`.
            activity_regularizer: called with the output; what it gives, divided by the number of rows, is added to
                `REGULARIZATION_LOSSES`.
            _scope: of the variables, as it is.
            _reuse: True if the variables are to exist, `tf.AUTO_REUSE` if they may.
        """
        self.trainable = trainable
        self.activity_regularizer = regularizer_of(activity_regularizer)
        self._given_name = name.name if isinstance(name, VariableScope) else name
        self._given_dtype = dtype
        self._given_scope = _captured(_scope) if _scope else None
        self.input_spec: InputSpec | Sequence[InputSpec] | None = None
        self._reuse = _reuse
        self._graph: weakref.ref[Graph] | None = None
        self._start()

    def _start(self) -> None:
        """Forgets what belongs to another graph."""
        self.built = False
        self.dtype = self._given_dtype
        self.losses: list[Any] = []
        self.updates: list[Operation] = []
        self._scope = self._given_scope
        self._shown = ""  # its name scope, once it was entered
        self._weights: list[Variable] = []

    @property
    def name(self) -> str:
        """The name that was given, or that of the scope."""
        if self._given_name:
            return self._given_name
        return self._class_name() if self._scope is None else self._scope.name.rpartition("/")[-1]

    @property
    def scope_name(self) -> str:
        """The name of the scope of the variables.

        Raises:
            ValueError: the layer was not called yet.
        """
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self.name}" has not been used yet. Call it first.'
            )
        return self._scope.name

    @property
    def trainable_weights(self) -> list[Variable]:
        """Lists the variables that optimizers train."""
        return [one for one in self._weights if one.trainable]

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Lists the other variables."""
        return [one for one in self._weights if not one.trainable]

    @property
    def weights(self) -> list[Variable]:
        """Lists all variables, those that optimizers train first."""
        return self.trainable_weights + self.non_trainable_weights

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    def build(self, input_shape: Any) -> None:
        """Makes the variables; by default there are none.

        Args:
            input_shape: a `tf.TensorShape`, or the structure of them that the inputs have.
        """

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the output; by default it is the input."""
        return inputs

    def __call__(self, inputs: Nested, *args: Any, **kwargs: Any) -> Any:
        """Makes the variables if there are none, and computes the output.

        Args:
            inputs: structure of tensors.
            *args: for `call`.
            **kwargs: likewise, but for `scope`, a variable scope.

        Raises:
            ValueError: the inputs do not fit the layer, or its variables exist and are not to be reused.
        """
        self._enter_graph()
        scope = self._place(kwargs.pop("scope", None))
        inputs = nest.map_structure(convert_to_tensor, inputs)
        reuse = True if self.built else self._reuse
        shown = name_scope(self._shown or scope.name.rpartition("/")[-1])
        with variable_scope(scope, reuse=reuse, auxiliary_name_scope=False), shown as self._shown:
            self._check(inputs)
            if not self.built:
                self._build(inputs)
                self._check(inputs)
            outputs = self.call(inputs, *args, **kwargs)
            if self.activity_regularizer is not None:
                for output in nest.flatten(outputs):
                    self._penalize_activity(output)
        return outputs

    apply = __call__

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: object = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: object = None,
    ) -> Variable:
        """Makes a variable of the layer, or finds it; see `tf.compat.v1.get_variable`.

        Args:
            name: below that of the layer's scope.
            shape: of the variable.
            dtype: None takes that of the layer.
            initializer: a function, or the name of one.
            regularizer: likewise. What it gives is added to `REGULARIZATION_LOSSES` once for each variable.
            trainable: see `get_variable`; in a layer that is not trainable, no variable is.
            constraint: a function, or the name of one.
            synchronization: see `tf.Variable`.
            aggregation: see `tf.Variable`.

        Raises:
            ValueError: a variable is `ON_READ`, and to be trained.
        """
        on_read = synchronization is VariableSynchronization.ON_READ
        if on_read and trainable:
            raise ValueError(
                f"Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. "
                f"{name} has trainable=True. Leave that out."
            )
        self._enter_graph()
        scope = self._place(None)
        known = default_graph().used
        new = f"{scope.prefix}{name}" not in known
        with variable_scope(scope, reuse=self.built or self._reuse, auxiliary_name_scope=False):
            variable = get_variable(
                name,
                shape,
                dtype or self.dtype or jnp.float32,
                initializer_of(initializer),
                trainable=self.trainable and not on_read and trainable is not False,
                constraint=constraint_of(constraint),
                synchronization=synchronization,
                aggregation=aggregation,
            )
        if all(variable is not one for one in self._weights):
            self._weights.append(variable)
        penalty = regularizer_of(regularizer)
        if penalty is not None and new:
            self.add_loss(penalty(variable))
        return variable

    add_variable = add_weight

    def add_loss(self, losses: Nested, inputs: object = None) -> None:
        """Adds penalties to `REGULARIZATION_LOSSES`; None is left out."""
        for loss in nest.flatten(losses):
            if loss is not None:
                self.losses.append(loss)
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates: Nested, inputs: object = None) -> None:
        """Adds operations to `UPDATE_OPS`; those of a layer that is not trainable are left out."""
        for update in nest.flatten(updates):
            if update is not None and self.trainable:
                self.updates.append(update)
                add_to_collection(GraphKeys.UPDATE_OPS, update)

    def _enter_graph(self) -> None:
        """Starts over if the graph is another one than that of the last call."""
        graph = default_graph()
        if self._graph is None or self._graph() is not graph:
            if self._graph is not None:
                self._start()
            self._graph = weakref.ref(graph)

    def _place(self, scope: str | VariableScope | None) -> VariableScope:
        """Chooses the scope of the variables, once."""
        if self._scope is None:
            base = self._given_name or self._class_name()
            if self._reuse:
                self._scope = _captured(base if scope is None else scope)
            else:
                self._scope = _captured(scope, base)
        return self._scope

    def _check(self, inputs: Nested) -> None:
        spec = self.input_spec
        if isinstance(spec, InputSpec) and isinstance(inputs, Mapping):
            keys = list(inputs)
            raise ValueError(
                f'Layer "{self.name}" takes one tensor, but its input is a dict with the keys {keys}. Give it one of them, such as '
                f"features[{keys[0] if keys else 'feature'!r}]. tf.estimator.export.ServingInputReceiver makes a dict of a tensor, "
                "with the key 'feature'; tf.estimator.export.TensorServingInputReceiver leaves it a tensor."
            )
        specs = [spec] if isinstance(spec, InputSpec) else spec or ()
        for one, x in zip(specs, nest.flatten(inputs), strict=False):
            one.check(self.name, x)

    def _build(self, inputs: Nested) -> None:
        first = nest.flatten(inputs)[0]
        if self.dtype is None and jnp.issubdtype(first.dtype, jnp.inexact):
            self.dtype = first.dtype
        self.build(nest.map_structure(lambda one: TensorShape(one.shape), inputs))
        self.built = True

    def _penalize_activity(self, output: jax.Array) -> None:
        values, rows = without_padding(output)
        self.add_loss(self.activity_regularizer(values) / rows)

    def _class_name(self) -> str:
        words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", type(self).__name__)
        return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def _captured(scope: str | VariableScope | None, default: str | None = None) -> VariableScope:
    with variable_scope(scope, default, auxiliary_name_scope=False) as captured:
        return captured
