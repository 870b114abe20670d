"""Arguments and methods of Keras 2's layers, models, losses, metrics and variables that scripts still use.

Internals of Keras that this touches: `Layer._input_shape_arg`, `Sequential._layers`, `Layer._flatten_layers` and
`Variable._synchronization`; tests/frontends/tf/keras/test_keras_2.py runs it on every supported version.
"""

import enum
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from spmd.integrations.keras import KerasObject, Method


def take_input_shape(make: Method, /, self: KerasObject, **kwargs: Any) -> None:
    """Wraps `Layer.__init__`: takes `input_shape=` of a first layer without a warning."""
    shape = kwargs.pop("input_shape", None)
    if (size := kwargs.pop("input_dim", None)) is not None:
        shape = (size,)
    batch_shape = kwargs.pop("batch_input_shape", None)
    make(self, **kwargs)
    if batch_shape is not None:
        self._tf_batch_input_shape = tuple(batch_shape)
    elif shape is not None:
        self._input_shape_arg = tuple(shape)


def add_with_batch_shape(
    add: Method, /, self: KerasObject, layer: KerasObject, *args: object, **kwargs: object
) -> None:
    """Wraps `Sequential.add`: a first layer's `batch_input_shape=` sets the model's, number of rows included."""
    batch_shape = getattr(layer, "_tf_batch_input_shape", None)
    if batch_shape is not None and not self._layers:
        add(self, keras.layers.InputLayer(batch_shape=batch_shape))
    add(self, layer, *args, **kwargs)


# The parameters in Keras 2's order, and in Keras 3's.
_LAYER_WEIGHT = (
    ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint"),
    ("shape", "initializer", "dtype"),
)
_METRIC_WEIGHT = (
    ("name", "shape", "aggregation", "synchronization", "initializer", "dtype"),
    ("shape", "initializer", "dtype", "name"),
)
# What layers of Keras 2 take as well, for graphs of TensorFlow.
_FOR_GRAPHS = ("use_resource", "partitioner", "collections", "caching_device", "getter")


def _named(
    orders: tuple[Sequence[str], Sequence[str]], args: Sequence[object], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Names positional arguments of `add_weight`: the first is a name in Keras 2, a shape in Keras 3."""
    names = orders[0 if args and (args[0] is None or isinstance(args[0], str)) else 1]
    if len(args) > len(names) or set(names[: len(args)]) & set(kwargs):
        raise TypeError(
            f"add_weight takes the positional arguments {', '.join(names)}, each once, but got "
            f"{len(args)} and the keywords {sorted(kwargs)}. Name them: "
            "self.add_weight(name=..., shape=..., initializer=...)."
        )
    named: dict[str, Any] = dict(zip(names, args, strict=False), **kwargs)
    for mode in ("aggregation", "synchronization"):
        if isinstance(named.get(mode), enum.Enum):
            named[mode] = named[mode].name.lower()
    return named


def take_name_first(
    add: Method, /, self: KerasObject, *args: object, **kwargs: object
) -> KerasObject:
    """Wraps `Layer.add_weight`: takes `add_weight("kernel", shape)` and TensorFlow's enumerations."""
    named = _named(_LAYER_WEIGHT, args, kwargs)
    for name in _FOR_GRAPHS:
        named.pop(name, None)
    if "experimental_autocast" in named:
        named["autocast"] = named.pop("experimental_autocast")
    synchronization = named.pop("synchronization", None)
    if named.get("trainable", True) is None:
        del named["trainable"]
    if synchronization == "on_read" and named.setdefault("trainable", False):
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for "
            "non-trainable variables. Leave trainable= out, or make it False."
        )
    variable = add(self, **named)
    if synchronization is not None:
        variable._synchronization = synchronization
    return variable


def add_metric_weight(self: KerasObject, *args: object, **kwargs: object) -> KerasObject:
    """Adds a variable to a metric, with the arguments of Keras 2 or of Keras 3.

    Without `aggregation` it is the sum of what each replica adds.
    """
    named = {"shape": (), "initializer": None, **_named(_METRIC_WEIGHT, args, kwargs)}
    synchronization = named.pop("synchronization", None)
    variable = self.add_variable(**named)
    if synchronization is not None:
        variable._synchronization = synchronization
    return variable


def take_auto(
    make: Method,
    /,
    self: KerasObject,
    name: object = None,
    reduction: object = "sum_over_batch_size",
    dtype: object = None,
    **kwargs: object,
) -> None:
    """Wraps `Loss.__init__`: takes `reduction="auto"`, Keras 2's default."""
    reduction = "sum_over_batch_size" if reduction == "auto" else reduction
    make(self, name, reduction, dtype, **kwargs)


def array(self: KerasObject, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    """Converts the value to a NumPy array."""
    return np.array(self.value, dtype, copy=copy)


def numpy(self: KerasObject) -> Any:
    """Copies the value to NumPy, and a scalar to a NumPy scalar."""
    return np.array(self.value)[()]


def read_value(self: KerasObject) -> Any:
    """Returns the value; in Keras 3 this is `value`."""
    return self.value


def reset_states(self: KerasObject) -> None:
    """Resets the metric; Keras 3 calls this `reset_state`."""
    self.reset_state()


def reset_layers(self: KerasObject) -> None:
    """Resets all stateful recurrent layers."""
    for layer in self._flatten_layers(include_self=False):
        if hasattr(layer, "reset_state"):
            layer.reset_state()
