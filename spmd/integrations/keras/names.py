"""Names of what is in Keras's objects that are the same in every run.

Keras numbers layers of one class through (`dense`, `dense_1`) for as long as a process lives, so the path of
a variable says in which order models were made. A checkpoint goes by attributes, as TensorFlow's do:
`dense1/kernel` of `self.dense1`, and `layers/0/kernel` in a Sequential or functional model. The slots of an
optimizer go by its lists: `momentums/3`.

Internals of Keras, which tests/spmd/integrations/keras/test_names.py runs on every supported version: the
attributes `_loss_tracker` and `_compile_metrics` of a compiled model, `CompileMetrics.metrics`,
`Metric._metrics` and `._variables`, `Optimizer._variables`, `Variable._value`, `Layer._trainable_variables` and
`._non_trainable_variables`.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import keras

from spmd.state import Group, adapter_of

_VARIABLE: Any = keras.Variable
_LAYER: Any = keras.Layer
_MODEL: Any = keras.Model
_METRIC: Any = keras.metrics.Metric
_OPTIMIZER: Any = keras.optimizers.Optimizer
_GENERATOR: Any = keras.random.SeedGenerator
_COMPILED = ("_loss_tracker", "_compile_metrics")


def children(thing: Any) -> dict[str, Any]:
    """Names the parts of an object of Keras's that hold state.

    Args:
        thing: a layer, model, metric, optimizer or seed generator.

    Returns:
        Layers, variables and groups of such, by name.
    """
    found: dict[str, Any] = {}
    if isinstance(thing, (keras.Sequential, _functional())):
        found["layers"] = Group({str(i): layer for i, layer in enumerate(thing.layers)})
    for name, value in sorted(vars(thing).items()):
        if name not in _internal():
            part = _stateful(value)
            if part is not None:
                found.setdefault(name.removeprefix("_"), part)
    if isinstance(thing, _MODEL):
        for name in _COMPILED:
            if getattr(thing, name, None) is not None:
                found[name.removeprefix("_")] = getattr(thing, name)
    if isinstance(thing, _METRIC):
        nested = getattr(thing, "metrics", None) or thing._metrics
        if nested:
            found["metrics"] = Group({str(i): metric for i, metric in enumerate(nested)})
    return found | _others(thing, found)


def _others(thing: Any, found: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that have no attribute, by their names."""
    named = {id(getattr(part, "stands_for", part)) for part in _flat(found)}
    result: dict[str, Any] = {}
    for variable in _own_variables(thing):
        known = id(getattr(variable, "stands_for", variable)) in named
        if not known and variable._value is not None:
            name, count = variable.name, 0
            while name in found or name in result:
                count += 1
                name = f"{variable.name}_{count}"
            result[name] = variable
    return result


def _flat(group: Mapping[str, Any]) -> Iterator[Any]:
    for part in group.values():
        yield from _flat(part) if isinstance(part, Group) else [part]


def _own_variables(thing: Any) -> list[Any]:
    """The variables of an object without those of its parts."""
    if isinstance(thing, _GENERATOR):
        return [thing.state]
    if isinstance(thing, _LAYER):
        return [*thing._trainable_variables, *thing._non_trainable_variables]
    return thing._variables


@functools.cache
def _functional() -> type[Any]:
    """The class that Keras makes of `keras.Model(inputs, outputs)`."""
    inputs = keras.Input((1,), name="bookkeeping_inputs")
    identity = keras.layers.Identity(name="bookkeeping_identity")
    return type(keras.Model(inputs, identity(inputs), name="bookkeeping"))


@functools.cache
def _internal() -> frozenset[str]:
    """The attributes of Keras's own bookkeeping, which lead to nothing that has no other name."""
    inputs = keras.Input((1,), name="bookkeeping_inputs")
    examples = (
        keras.Sequential(name="bookkeeping"),
        _functional()(inputs, inputs, name="bookkeeping"),
    )
    names = (name for example in examples for name in vars(example))
    return frozenset({*names, "_variables", "_trainable_variables"})


def _stateful(value: Any) -> Any:
    """What of an attribute's value is part of a checkpoint, None if nothing is."""
    if isinstance(value, (list, tuple)):
        items = {str(index): child for index, child in enumerate(value)}
    elif isinstance(value, dict):
        items = {str(key): child for key, child in value.items()}
    else:
        if adapter_of(value) is None:
            return None
        # A variable that is being made in a traced function has no value yet.
        return None if isinstance(value, _VARIABLE) and value._value is None else value
    parts = {name: part for name, child in items.items() if (part := _stateful(child)) is not None}
    return Group(parts) if parts else None
