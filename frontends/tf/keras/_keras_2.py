"""Arguments and methods of Keras 2's layers, models, losses, metrics and variables that scripts still use.

Internals of Keras that this touches: `Layer._input_shape_arg`, `._call_signature`, `._maybe_build` and `._flatten_layers`, `Sequential._layers`,
`Variable._synchronization`, `._shape`, `._name` and `._path`, `name_scope`; tests/frontends/tf/keras/test_keras_2.py runs it on every supported version.
"""

import enum
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from frontends.tf._user_view import as_shape_seen, seen_by_users
from frontends.tf.feature_column import Texts
from frontends.tf.keras._host_arguments import (
    are_for_host,
    keep_as_given,
    was_called_with_them,
)
from frontends.tf.keras._text_batches import prepared_for
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.devices import across_devices
from frontends.tf.ops.initial_values import init_scope
from frontends.tf.reference import Reference
from frontends.tf.tensor_shape import TensorShape
from spmd.integrations.keras import KerasObject, Method

# The parameters of a layer in Keras 2's order; Keras 3 takes them by name only.
_LAYER_PARAMETERS = ("trainable", "name", "dtype", "dynamic")


def take_former_arguments(make: Method, /, self: KerasObject, *args: Any, **kwargs: Any) -> None:
    """Wraps `Layer.__init__`: takes positional arguments, `dynamic=`, and `input_shape=` of a first layer without a warning."""
    # A model of Keras 2 ignores positional arguments that are not inputs and outputs.
    if args and not isinstance(self, keras.Model):
        kwargs = {**_layer_parameters(args, kwargs), **kwargs}
    shape = kwargs.pop("input_shape", None)
    if (size := kwargs.pop("input_dim", None)) is not None:
        shape = (size,)
    batch_shape = kwargs.pop("batch_input_shape", None)
    dynamic = kwargs.pop("dynamic", False)
    make(self, **kwargs)
    if dynamic:
        self._tf_dynamic = True
    if batch_shape is not None:
        self._tf_batch_input_shape = tuple(batch_shape)
    elif shape is not None:
        self._input_shape_arg = tuple(shape)


def take_slash(
    make: Method, /, self: KerasObject, name: str | None = None, *args: object, **kwargs: object
) -> None:
    """Wraps `__init__` of operations and name scopes: takes the name `block1/conv`, which Keras 3 refuses."""
    if isinstance(name, str) and "/" in name:
        make(self, _without_slash(name), *args, **kwargs)
        self.name = name
    else:
        make(self, name, *args, **kwargs)


def _without_slash(name: str) -> str:
    return name.replace("/", "_")


def _layer_parameters(args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Names the positional arguments of a layer."""
    named: dict[str, Any] = dict(zip(_LAYER_PARAMETERS, args, strict=False))
    if len(args) > len(_LAYER_PARAMETERS) or named.keys() & kwargs.keys():
        raise TypeError(
            f"Layer.__init__ takes the positional arguments {', '.join(_LAYER_PARAMETERS)}, each once, but got "
            f"{len(args)} and the keywords {sorted(kwargs)}. Name them: super().__init__(name=...)."
        )
    if not isinstance(named["trainable"], bool):
        raise TypeError(
            "Expected trainable, a bool, as the first positional argument of Layer.__init__, but got "
            f"{named['trainable']!r}. For the name of the layer, write super().__init__(name=...)."
        )
    return named


def take_metrics_third(
    compile_: Method,
    /,
    self: KerasObject,
    optimizer: Any = "rmsprop",
    loss: Any = None,
    *args: Any,
    **kwargs: Any,
) -> None:
    """Wraps `Trainer.compile`: takes metrics before weights of losses, where Keras 3 has them after; and one without a list."""
    if args and _are_metrics(args[0]):
        metrics, weights, *others = *args, *([] if args[1:] else [kwargs.pop("loss_weights", None)])
        args = weights, metrics, *others
    if not args[1:] and _is_metric(kwargs.get("metrics")):
        kwargs["metrics"] = [kwargs["metrics"]]
    elif args[1:] and _is_metric(args[1]):
        args = args[0], [args[1]], *args[2:]
    compile_(self, optimizer, loss, *args, **kwargs)


def _are_metrics(values: Any) -> bool:
    """Tells metrics from weights of losses, which are numbers."""
    if isinstance(values, dict):
        values = [*values.values()]
    if isinstance(values, list | tuple):
        return all(value is None or _are_metrics(value) for value in values)
    return _is_metric(values)


def _is_metric(value: Any) -> bool:
    return isinstance(value, str) or callable(value)


def submodules(self: KerasObject) -> tuple[Any, ...]:
    """Lists the layers inside of a layer or model; becomes `Layer.submodules`."""
    return tuple(self._flatten_layers(include_self=False))


def is_dynamic(self: KerasObject) -> bool:
    """Tells whether a model holds a layer that says `dynamic=True`: Keras 2 runs it eagerly."""
    return any(getattr(layer, "_tf_dynamic", False) for layer in self._flatten_layers())


def update_across_devices(update: Method, /, self: KerasObject, *args: Any, **kwargs: Any) -> Any:
    """Wraps `Metric.update_state`: takes the values of several replicas, as `experimental_local_results` gives them."""
    return across_devices("tf.keras.metrics.Metric", {"update_state": update})["update_state"](
        self, *args, **kwargs
    )


def _holds_numbers(values: Any) -> bool:
    while isinstance(values, list | tuple) and values:
        values = values[0]
    return isinstance(values, int | float)


def build_apart(build: Method, /, self: KerasObject, *args: Any) -> None:
    """Wraps `Layer._maybe_build`: what `build` computes is no part of the program that calls the layer first.

    Keras infers the shapes of a layer by tracing its call, in which layers within it are built: initial values that
    operations compute were values of that trace, and random ones all alike.
    """
    if self.built:
        return
    with init_scope():
        build(self, *args)


def take_arguments(call: Method, /, self: KerasObject, *args: Any, **kwargs: Any) -> Any:
    """Wraps `Layer.__call__`: takes `layer(x, True, mask)`, where Keras 3 wants all but tensors named; and numbers."""
    if args and isinstance(args[0], list) and _holds_numbers(args[0]):
        args = (convert_to_tensor(args[0]), *args[1:])
    elif (
        args and isinstance(args[0], dict | tuple | list | Texts) and isinstance(self, keras.Model)
    ):
        # Keras takes no texts beside numbers.
        with prepared_for(self, args[0]) as inputs:
            return _by_keras_3(call, self, (inputs, *args[1:]), kwargs)
    elif was_called_with_them(self) or are_for_host(args) or are_for_host(kwargs):
        args, kwargs = keep_as_given(self, args, kwargs)
    return _by_keras_3(call, self, args, kwargs)


def _by_keras_3(
    call: Method, self: KerasObject, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Calls a layer with the arguments that Keras 3 takes by name only named."""
    if isinstance(kwargs.get("mask"), Texts):
        kwargs["mask"] = None  # texts have none; Keras looked into them for it
    if len(args) > 1:
        names = [
            name
            for name, parameter in self._call_signature.parameters.items()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        named = dict(zip(names, args, strict=False))
        taken = next((i for i, name in enumerate(named) if i and _by_name(name, named[name])), None)
        if taken is not None and len(args) <= len(names) and not named.keys() & kwargs.keys():
            args, kwargs = args[:taken], {**dict(list(named.items())[taken:]), **kwargs}
    elif args and type(args[0]) in (int, float):
        args = (keras.ops.convert_to_tensor(args[0]),)
    return call(self, *args, **kwargs)


def _by_name(name: str, value: object) -> bool:
    """Tells whether Keras 3 takes an argument by name only: it is no tensor, or may be set by Keras."""
    if name in ("training", "mask"):
        return True
    return not all(
        leaf is None or isinstance(leaf, np.ndarray) or keras.ops.is_tensor(leaf)
        for leaf in keras.tree.flatten(value)
    )


def take_targets_of_rank_1(
    match: Method, /, x1: Any, x2: Any, *args: object, **kwargs: object
) -> tuple[Any, Any]:
    """Wraps `squeeze_or_expand_to_same_rank` of losses: a target for each row is compared with all outputs of the row."""
    if len(x1.shape) == 1 and len(x2.shape) == 2 and x2.shape[-1] != 1:
        x1 = keras.ops.expand_dims(x1, -1)
    return match(x1, x2, *args, **kwargs)


def take_named_target(
    call: Method, /, self: KerasObject, y_true: Any, y_pred: Any, sample_weight: Any = None
) -> Any:
    """Wraps the losses and metrics that a model was compiled with: the target of its one output may stand under its name.

    Raises:
        ValueError: it stands under another name.
    """
    if not isinstance(y_pred, dict | list | tuple):
        names = self.output_names
        if names and isinstance(y_true, dict) and not y_true.keys() <= set(names):
            raise ValueError(
                f"Expected the targets of the output {names[0]!r}, but those of {', '.join(map(repr, y_true))} were given. Write "
                f"model.fit(x, {{{names[0]!r}: y}}), or model.fit(x, y)."
            )
        y_true, sample_weight = (
            next(iter(each.values())) if isinstance(each, dict) and len(each) == 1 else each
            for each in (y_true, sample_weight)
        )
    return call(self, y_true, y_pred, sample_weight)


def take_row(adjust: Method, /, self: KerasObject, flat_inputs: Sequence[Any]) -> list[Any]:
    """Wraps `Functional._adjust_input_rank`: takes an input without the axis of rows, whose layers then get it like that."""
    is_row = [
        # Keras itself adds an axis of size 1.
        value is not None and tensor.shape[-1:] != (1,) and _fits(value.shape, tensor.shape[1:])
        for value, tensor in zip(flat_inputs, self._inputs, strict=True)
    ]
    given = [value[None] if row else value for value, row in zip(flat_inputs, is_row, strict=True)]
    adjusted = adjust(self, given)
    return [value[0] if row else value for value, row in zip(adjusted, is_row, strict=True)]


def _fits(shape: Sequence[int], expected: Sequence[int | None]) -> bool:
    return len(shape) == len(expected) and all(
        size in (None, given) for given, size in zip(shape, expected, strict=True)
    )


def add_with_batch_shape(
    add: Method, /, self: KerasObject, layer: KerasObject, *args: object, **kwargs: object
) -> None:
    """Wraps `Sequential.add`: a first layer's `batch_input_shape=` sets the model's, number of rows included.

    A first model that takes texts has this one take texts, too, where Keras 3 has it take numbers.
    """
    if not self._layers:
        batch_shape = getattr(layer, "_tf_batch_input_shape", None)
        if batch_shape is not None:
            add(self, keras.layers.InputLayer(batch_shape=batch_shape))
        elif (text := _text_input(layer)) is not None:
            add(self, keras.layers.InputLayer(batch_shape=tuple(text.shape), dtype="string"))
    add(self, layer, *args, **kwargs)


def _text_input(layer: Any) -> Any:
    """Returns the symbolic input of a model that takes texts alone; None of others."""
    inputs = getattr(layer, "inputs", None) if isinstance(layer, keras.Model) else None
    return inputs[0] if inputs and len(inputs) == 1 and inputs[0].dtype == "string" else None


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
    name: Any = named.get("name")
    slash = isinstance(name, str) and "/" in name
    if slash:
        named["name"] = _without_slash(name)
    variable = add(self, **named)
    if slash:
        variable._name, variable._path = name, f"{variable._path[: -len(name)]}{name}"
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


def add_by_old_name(self: KerasObject, *args: object, **kwargs: object) -> KerasObject:
    """Adds a weight to a layer: the first name of `add_weight`."""
    return self.add_weight(*args, **kwargs)


def take_locking(
    assign: Method,
    /,
    self: KerasObject,
    value: Any,
    use_locking: bool | None = None,
    name: str | None = None,
    read_value: bool = True,
) -> Any:
    """Wraps `Variable.assign`: takes what TensorFlow's variables take, which has no effect."""
    return assign(self, value)


def array(self: KerasObject, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    """Converts the value to a NumPy array."""
    return np.array(self.value, dtype, copy=copy)


def numpy(self: KerasObject) -> Any:
    """Copies the value to NumPy, and a scalar to a NumPy scalar."""
    return np.array(self.value)[()]


def read_value(self: KerasObject) -> Any:
    """Returns the value; in Keras 3 this is `value`."""
    return self.value


def get_shape(self: KerasObject) -> TensorShape:
    """Returns the shape of a variable."""
    return as_shape_seen(self._shape)


# Keras itself goes on to see a tuple.
shape = seen_by_users(lambda self: self._shape, get_shape, "The shape of the variable.")


def ref(self: KerasObject) -> Reference:
    """Returns an object that stands for the variable in sets and dictionaries."""
    return Reference(self)


def reset_states(self: KerasObject) -> None:
    """Resets the metric; Keras 3 calls this `reset_state`."""
    self.reset_state()


def reset_layers(self: KerasObject) -> None:
    """Resets all stateful recurrent layers."""
    for layer in self._flatten_layers(include_self=False):
        if hasattr(layer, "reset_state"):
            layer.reset_state()
