"""Attributes set on Keras's own classes and modules: what Keras 2 had and scripts still use.

This is the file that changes Keras for the front end (spmd/integrations/keras/adapter.py does for the engine), with what
its neighbours define; tests/frontends/tf/keras/test_injected.py runs it on every supported version. Every
use of Keras in the process sees the changes; they add names and arguments, and take nothing away.
Internals that it touches: `Layer._input_shape_arg`, `Variable._synchronization`, `Tracker`,
`keras.src.legacy`.
"""

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any

import keras
import keras.src.legacy.backend
import keras.src.legacy.layers
import numpy as np
from keras.src.utils.tracking import Tracker

import frontends.tf
from frontends.tf.keras import _optimizers
from frontends.tf.keras._weights import tracks_variables
from spmd.state import adapters

_DONE: list[bool] = []


def install() -> None:
    """Changes Keras; once more changes nothing."""
    if _DONE:
        return
    adapters()  # the engine changes Keras, too: BatchNormalization(synchronized=True) is made anywhere
    # All new attributes are made before the first is set, so a Keras that lacks one stays as it is.
    for owner, name, value in _changes():
        setattr(owner, name, value)
    _DONE.append(True)


def _changes() -> list[tuple[Any, str, Any]]:
    variable: Any = keras.Variable
    tracker: Any = Tracker
    layer: Any = keras.Layer
    loss: Any = keras.losses.Loss
    metric: Any = keras.metrics.Metric
    sequential: Any = keras.Sequential
    optimizer: Any = keras.optimizers.Optimizer
    scaled: Any = keras.optimizers.LossScaleOptimizer
    optimizers = [
        cls
        for cls in vars(keras.optimizers).values()
        if isinstance(cls, type) and issubclass(cls, optimizer) and "build" in vars(cls)
    ]
    return [
        # What Keras keeps of Keras 2 calls TensorFlow: it can call this instead.
        (keras.src.legacy.backend, "tf", frontends.tf),
        (keras.src.legacy.layers, "tf", frontends.tf),
        (variable, "__array__", _array),
        (variable, "numpy", _numpy),
        (variable, "read_value", _read_value),
        (tracker, "track", tracks_variables(tracker.track)),
        (layer, "__init__", _takes_input_shape(layer.__init__)),
        (layer, "add_weight", _takes_name_first(layer.add_weight)),
        (loss, "__init__", _takes_auto(loss.__init__)),
        (metric, "add_weight", _add_metric_weight),
        (metric, "reset_states", _reset_states),
        (keras.Model, "reset_states", _reset_layers),
        (sequential, "add", _adds_batch_shape(sequential.add)),
        *((cls, "build", _optimizers.builds_for_variables(cls.build)) for cls in optimizers),
        (optimizer, "__init__", _optimizers.takes_lr(optimizer.__init__)),
        (optimizer, "lr", property(_optimizers.get_lr, _optimizers.set_lr)),
        (optimizer, "apply", _optimizers.takes_variables(optimizer.apply)),
        (optimizer, "apply_gradients", _optimizers.takes_name(optimizer.apply_gradients)),
        (optimizer, "minimize", _optimizers.minimize),
        (scaled, "get_scaled_loss", _optimizers.get_scaled_loss),
        (scaled, "get_unscaled_gradients", _optimizers.get_unscaled_gradients),
        (scaled, "loss_scale", property(_optimizers.loss_scale)),
        (scaled, "scale_loss", _optimizers.scales_as_keras_3(scaled.scale_loss)),
        (
            scaled,
            "apply",
            _optimizers.takes_variables(_optimizers.takes_unscaled(scaled.apply)),
        ),
    ]


def _takes_input_shape(make: Callable[..., None]) -> Callable[..., None]:
    """Makes `input_shape=` in a first layer no reason for a warning."""

    # Keras reads the signature to find a layer's settings, so it is the same.
    @functools.wraps(make)
    def __init__(
        self: Any,
        *,
        activity_regularizer: Any = None,
        trainable: Any = True,
        dtype: Any = None,
        autocast: Any = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        shape = kwargs.pop("input_shape", None)
        if (size := kwargs.pop("input_dim", None)) is not None:
            shape = (size,)
        batch_shape = kwargs.pop("batch_input_shape", None)
        make(
            self,
            activity_regularizer=activity_regularizer,
            trainable=trainable,
            dtype=dtype,
            autocast=autocast,
            name=name,
            **kwargs,
        )
        if batch_shape is not None:
            self._tf_batch_input_shape = tuple(batch_shape)
        elif shape is not None:
            self._input_shape_arg = tuple(shape)

    return __init__


def _adds_batch_shape(add: Callable[..., None]) -> Callable[..., None]:
    """Makes a first layer's `batch_input_shape=` the model's, with the number of rows."""

    @functools.wraps(add)
    def with_batch_shape(self: Any, layer: Any, *args: Any, **kwargs: Any) -> None:
        batch_shape = getattr(layer, "_tf_batch_input_shape", None)
        if batch_shape is not None and not self._layers:
            add(self, keras.layers.InputLayer(batch_shape=batch_shape))
        add(self, layer, *args, **kwargs)

    return with_batch_shape


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


def _named(orders: tuple[Sequence[str], Sequence[str]], args: Any, kwargs: Any) -> dict[str, Any]:
    """Names positional arguments of `add_weight`: a name stands first in Keras 2, a shape in Keras 3."""
    names = orders[0 if args and (args[0] is None or isinstance(args[0], str)) else 1]
    if len(args) > len(names) or set(names[: len(args)]) & set(kwargs):
        raise TypeError(
            f"add_weight takes the positional arguments {', '.join(names)}, each once, but got "
            f"{len(args)} and the keywords {sorted(kwargs)}. Name them: "
            "self.add_weight(name=..., shape=..., initializer=...)."
        )
    named = dict(zip(names, args, strict=False), **kwargs)
    for mode in ("aggregation", "synchronization"):
        if mode in named:
            named[mode] = _lower_name(named[mode])
    return named


def _takes_name_first(add: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a layer's `add_weight("kernel", shape)` and TensorFlow's enumerations work."""

    @functools.wraps(add)
    def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
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

    return add_weight


def _add_metric_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Adds a variable to the metric, with the arguments of Keras 2 or of Keras 3.

    Without `aggregation` it is the sum of what each replica adds.
    """
    named = {"shape": (), "initializer": None, **_named(_METRIC_WEIGHT, args, kwargs)}
    synchronization = named.pop("synchronization", None)
    variable = self.add_variable(**named)
    if synchronization is not None:
        variable._synchronization = synchronization
    return variable


def _lower_name(mode: Any) -> Any:
    return mode.name.lower() if isinstance(mode, enum.Enum) else mode


def _takes_auto(make: Callable[..., None]) -> Callable[..., None]:
    """Makes `reduction="auto"`, Keras 2's default, mean what it meant."""

    @functools.wraps(make)
    def __init__(
        self: Any,
        name: Any = None,
        reduction: Any = "sum_over_batch_size",
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        make(self, name=name, reduction=reduction, dtype=dtype, **kwargs)

    return __init__


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """Gives NumPy the value; Keras's own method lacks an argument of NumPy 2, which warns."""
    return np.array(self.value, dtype, copy=copy)


def _numpy(self: Any) -> Any:
    """Copies the value to NumPy, and a scalar to a NumPy scalar."""
    return np.array(self.value)[()]


def _read_value(self: Any) -> Any:
    """The value; in Keras 3 this is `value`."""
    return self.value


def _reset_states(self: Any) -> None:
    """Starts the metric anew; Keras 3 calls this `reset_state`."""
    self.reset_state()


def _reset_layers(self: Any) -> None:
    """Starts all stateful recurrent layers anew."""
    for layer in self._flatten_layers(include_self=False):
        if hasattr(layer, "reset_state"):
            layer.reset_state()
