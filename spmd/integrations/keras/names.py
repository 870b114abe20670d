"""Names for the parts of Keras's objects that are the same in every run.

Keras numbers the layers of a class (`dense`, `dense_1`) for as long as a process lives, so the path of a variable
depends on the order in which models were made. A checkpoint names parts by attributes, as TensorFlow's do:
`dense1/kernel` of `self.dense1`, and `layers/0/kernel` in a Sequential or functional model. The slots of an
optimizer are named by its lists: `momentums/3`.

Touches Keras internals, which tests/spmd/integrations/keras/test_names.py runs on every supported version: the
attributes `_loss_tracker` and `_compile_metrics` of a compiled model, `CompileMetrics.metrics`,
`Metric._metrics` and `._variables`, `Optimizer._variables`, `Variable._value`, `Layer._trainable_variables` and
`._non_trainable_variables`.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import keras

from spmd.integrations.keras.typing import KerasObject, Variable
from spmd.state import Group, adapter_of

_VARIABLE: Any = keras.Variable
_LAYER: Any = keras.Layer
_MODEL: Any = keras.Model
_METRIC: Any = keras.metrics.Metric
_GENERATOR: Any = keras.random.SeedGenerator
_COMPILED = ("_loss_tracker", "_compile_metrics")


def children(owner: KerasObject) -> dict[str, KerasObject | Group]:
    """Names the parts of an object of Keras's that hold state.

    Args:
        owner: a layer, model, metric, optimizer or seed generator.

    Returns:
        Layers, variables and groups of them, by name.
    """
    found: dict[str, Any] = {}
    if isinstance(owner, (keras.Sequential, _functional())):
        found["layers"] = Group({str(i): layer for i, layer in enumerate(owner.layers)})
    for name, value in sorted(vars(owner).items()):
        if name not in _internal():
            part = _stateful(value)
            if part is not None:
                found.setdefault(name.removeprefix("_"), part)
    if isinstance(owner, _MODEL):
        for name in _COMPILED:
            if getattr(owner, name, None) is not None:
                found[name.removeprefix("_")] = getattr(owner, name)
    if isinstance(owner, _METRIC):
        nested = getattr(owner, "metrics", None) or owner._metrics
        if nested:
            found["metrics"] = Group({str(i): metric for i, metric in enumerate(nested)})
    return found | _others(owner, found)


def _others(owner: KerasObject, found: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that have no attribute, by their names."""
    named = {id(getattr(part, "stands_for", part)) for part in _flat(found)}
    result: dict[str, Any] = {}
    for variable in _own_variables(owner):
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


def _own_variables(owner: KerasObject) -> list[Variable]:
    """The variables of an object without those of its parts."""
    if isinstance(owner, _GENERATOR):
        return [owner.state]
    if isinstance(owner, _LAYER):
        return [*owner._trainable_variables, *owner._non_trainable_variables]
    return owner._variables


@functools.cache
def _functional() -> type[Any]:
    """The class of `keras.Model(inputs, outputs)`, which has no public name."""
    inputs = keras.Input((1,), name="bookkeeping_inputs")
    identity = keras.layers.Identity(name="bookkeeping_identity")
    return type(keras.Model(inputs, identity(inputs), name="bookkeeping"))


@functools.cache
def _internal() -> frozenset[str]:
    """The attributes of Keras's own bookkeeping; what they lead to has another name."""
    inputs = keras.Input((1,), name="bookkeeping_inputs")
    functional = _functional()(inputs, inputs, name="bookkeeping")
    examples = (keras.Sequential(name="bookkeeping"), functional)
    names = (name for example in examples for name in vars(example))
    return frozenset({*names, "_variables", "_trainable_variables"})


def _stateful(value: KerasObject) -> KerasObject | Group | None:
    """The part of an attribute's value that belongs in a checkpoint; None if nothing does."""
    if isinstance(value, (list, tuple)):
        items = {str(index): child for index, child in enumerate(value)}
    elif isinstance(value, dict):
        items = {str(key): child for key, child in value.items()}
    else:
        if adapter_of(value) is None:
            return None
        # A deferred variable has no value yet.
        return None if isinstance(value, _VARIABLE) and value._value is None else value
    parts = {name: part for name, child in items.items() if (part := _stateful(child)) is not None}
    return Group(parts) if parts else None
