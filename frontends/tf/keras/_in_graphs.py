"""Keras's layers in a model function of an estimator, which is called once for each mode and each trace.

A layer is made anew in each call, and its variables are found again by their names, as those of `tf.Variable` are: the
graph's store holds a `tf.Variable`, and the layer has the weight that stands for it. Names begin anew with each call. What a
layer assigns, such as averages of batch normalization, waits until it is fetched: `updates` lists it.

Internals of Keras that this touches: `current_path`, `naming.uniquify`, `SeedGenerator._initial_seed`,
`Layer._track_variable` and the stateless scope; tests/frontends/tf/keras/test_in_graphs.py runs it on every supported version.
"""

import collections
import contextvars
from typing import Any

import jax
import keras
from keras.src.backend.common.name_scope import current_path
from keras.src.backend.common.stateless_scope import in_stateless_scope

from frontends.tf.aggregation import VariableAggregation
from frontends.tf.distribute.variable_parts import holder_of
from frontends.tf.graph import Graph, Operation, current_graph
from frontends.tf.keras._weights import UPDATES, as_weight
from frontends.tf.ops.name_scope import in_name_scope, name_scope
from frontends.tf.ops.random import draw_key
from frontends.tf.ops.seeds import key_words, op_entropy
from frontends.tf.variable import new_variable
from spmd.assigned import assigned
from spmd.integrations.keras import KerasObject, Method

# The outermost layer that is being called, and what TensorFlow's names begin with: a name scope, another one for each call.
_CALLED: contextvars.ContextVar[tuple[KerasObject, str] | None] = contextvars.ContextVar(
    "called_layer", default=None
)


class _Names(collections.Counter[str]):
    """How often a graph has given a layer a name."""


def name_in_graph(uniquify: Method, /, name: str) -> str:
    """Wraps `uniquify`, which numbers names of layers in the process: in a model function, each call numbers them anew."""
    graph = current_graph()
    if graph is None:
        return uniquify(name)
    names: _Names = graph.kept.setdefault(_Names, _Names())
    number = names[name]
    names[name] += 1
    return f"{name}_{number}" if number else name


def call_in_graph(call: Method, /, self: KerasObject, *args: Any, **kwargs: Any) -> Any:
    """Wraps `Layer.__call__`: notes which layer a model function calls, and has a layer of an earlier call found again.

    Raises:
        ValueError: the layer has variables that are none of the model function's.
    """
    graph = current_graph()
    if graph is None or _CALLED.get() is not None or in_stateless_scope():
        return call(self, *args, **kwargs)
    for weight in self.trainable_variables:
        _find(graph, self, weight)
    scope = graph.unique_name(in_name_scope(self.name))
    with assigned(_CALLED, (self, scope)):
        return call(self, *args, **kwargs)


def _find(graph: Graph, layer: KerasObject, weight: KerasObject) -> None:
    """Has a graph list the variable of a layer that was made before."""
    variable = holder_of(weight)
    name = str(variable.name).removesuffix(":0")
    if graph.store.variables.get(name) is not variable:
        if not graph.is_saved:
            return
        raise ValueError(
            f"The layer {layer.name!r} has the variable {weight.path!r}, which is none of this call of the model function: it was "
            "made outside, or for another mode. Make the layer in the model function, which finds its variables again: "
            "def model_fn(features, labels, mode): layer = tf.keras.layers.Dense(1). To train a model that exists, write "
            "tf.keras.estimator.model_to_estimator(model)."
        )
    if name not in graph.used:
        graph.variable(name, lambda _: variable)


def add_in_graph(
    add: Method,
    /,
    self: KerasObject,
    shape: Any = None,
    initializer: Any = None,
    dtype: Any = None,
    trainable: bool = True,
    autocast: bool = True,
    regularizer: Any = None,
    constraint: Any = None,
    aggregation: str | None = "none",
    overwrite_with_gradient: bool = False,
    name: str | None = None,
) -> KerasObject:
    """Wraps `Layer.add_weight`: in a model function, finds the variable that another call of the function made.

    Its name is TensorFlow's: the layers that are being called, and that of the weight.
    """
    graph = current_graph()
    if graph is None:
        return add(
            self,
            shape=shape,
            initializer=initializer,
            dtype=dtype,
            trainable=trainable,
            autocast=autocast,
            regularizer=regularizer,
            constraint=constraint,
            aggregation=aggregation,
            overwrite_with_gradient=overwrite_with_gradient,
            name=name,
        )
    kind = keras.backend.standardize_dtype(self.variable_dtype if dtype is None else dtype)
    if initializer is None:
        initializer = "glorot_uniform" if "float" in kind else "zeros"
    initializer = keras.initializers.get(initializer)
    limited = keras.constraints.get(constraint)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape or ())
    if isinstance(self, keras.layers.BatchNormalization) and not trainable:
        aggregation = "mean"  # averages of what each replica has seen

    def make(full: str) -> Any:
        first = _seeded(initializer)
        with name_scope(""):  # the name is whole
            return new_variable(
                lambda: first(sizes, dtype=kind),
                trainable=trainable,
                name=full,
                constraint=limited,
                aggregation=VariableAggregation[(aggregation or "none").upper()],
            )

    with keras.name_scope(self.name, caller=self):
        weight = as_weight(graph.variable(f"{_scope()}/{name or 'variable'}", make))
    weight.trainable, weight._autocast = trainable, autocast
    weight.regularizer = keras.regularizers.get(regularizer)
    weight.overwrite_with_gradient = overwrite_with_gradient
    self._track_variable(weight)
    return weight


def _scope() -> str:
    """Names the layers around a weight, from the outermost that is being called on."""
    names, called = current_path().split("/"), _CALLED.get()
    if called is not None:
        layer, scope = called
        if layer.name in names:
            return "/".join([scope, *names[names.index(layer.name) + 1 :]])
    return in_name_scope("/".join(names))


def _seeded(initializer: Any) -> Any:
    """Returns an initializer that draws from the global seed, if it has none of its own: tasks of a cluster agree on it."""
    config = initializer.get_config() if hasattr(initializer, "get_config") else {}
    if config.get("seed", 0) is not None:
        return initializer
    return type(initializer).from_config(
        {**config, "seed": key_words(op_entropy(None, "initializer"))[0] >> 1}
    )


def draw_in_graph(draw: Method, /, self: KerasObject, ordered: bool = True) -> Any:
    """Wraps `SeedGenerator.next`: in a model function, draws from the stream of `tf.random`, which outlives the call."""
    if current_graph() is None or in_stateless_scope():
        return draw(self, ordered)
    return jax.random.key_data(draw_key(self._initial_seed))


def updates(self: KerasObject) -> list[Operation]:
    """What assigns variables of the layer, in a model function; becomes `Layer.updates`. Elsewhere it is assigned at once."""
    graph = current_graph()
    if graph is None:
        return []
    own = {id(holder_of(variable)) for variable in self.variables}
    return [update for variable, update in graph.kept.get(UPDATES, ()) if id(variable) in own]


def get_updates_for(self: KerasObject, inputs: Any) -> list[Operation]:
    """Lists the updates that depend on inputs, which are all; becomes `Layer.get_updates_for`."""
    return [] if inputs is None else updates(self)
