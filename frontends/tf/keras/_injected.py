"""Attributes set on Keras's own classes and modules: what Keras 2 had and scripts still use.

This is the one file that changes Keras for the front end (spmd/keras_adapter.py does for the engine);
tests/frontends/tf/keras/test_injected.py runs it on every supported version. Every use of Keras in the
process sees the changes; they add names and arguments, and take nothing away. Internals that it
touches: `Layer._input_shape_arg`, `Variable._synchronization`, `Optimizer._iterations`,
`keras.src.legacy`.
"""

import enum
import functools
import numbers
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import keras
import keras.src.legacy.backend
import keras.src.legacy.layers
import numpy as np
from keras import ops

import frontends.tf
from frontends.tf.distribute.context import in_cross_replica_context
from frontends.tf.gradient_tape import GradientTape
from frontends.tf.variable import Variable
from spmd.state import adapters

_DONE: list[bool] = []


def install() -> None:
    """Changes Keras; once more changes nothing."""
    if _DONE:
        return
    _DONE.append(True)
    adapters()  # the engine changes Keras, too: BatchNormalization(synchronized=True) is made anywhere
    # What Keras keeps of Keras 2 calls TensorFlow: it can call this instead.
    for module in (keras.src.legacy.backend, keras.src.legacy.layers):
        vars(module)["tf"] = frontends.tf
    variable: Any = keras.Variable
    variable.__array__ = _array
    variable.numpy = _numpy
    variable.read_value = _read_value
    layer: Any = keras.Layer
    layer.__init__ = _takes_input_shape(layer.__init__)
    layer.add_weight = _takes_name_first(layer.add_weight)
    loss: Any = keras.losses.Loss
    loss.__init__ = _takes_auto(loss.__init__)
    metric: Any = keras.metrics.Metric
    metric.add_weight = _takes_name_first(metric.add_weight)
    metric.reset_states = _reset_states
    model: Any = keras.Model
    model.reset_states = _reset_layers
    optimizer: Any = keras.optimizers.Optimizer
    optimizer.__init__ = _takes_lr(optimizer.__init__)
    optimizer.lr = property(_get_lr, _set_lr)
    optimizer.apply = _takes_variables(optimizer.apply)
    optimizer.apply_gradients = _apply_gradients
    optimizer.minimize = _minimize
    scaled: Any = keras.optimizers.LossScaleOptimizer
    scaled.get_scaled_loss = _get_scaled_loss
    scaled.get_unscaled_gradients = _get_unscaled_gradients
    scaled.loss_scale = property(_scale)
    scaled.apply = _takes_variables(_takes_unscaled(scaled.apply))


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
        if (batch_shape := kwargs.pop("batch_input_shape", None)) is not None:
            shape = tuple(batch_shape)[1:]
        make(
            self,
            activity_regularizer=activity_regularizer,
            trainable=trainable,
            dtype=dtype,
            autocast=autocast,
            name=name,
            **kwargs,
        )
        if shape is not None:
            self._input_shape_arg = tuple(shape)

    return __init__


def _takes_name_first(add: Callable[..., Any]) -> Callable[..., Any]:
    """Makes `add_weight("kernel", shape)` and TensorFlow's enumerations work."""

    @functools.wraps(add)
    def add_weight(
        self: Any, *args: Any, synchronization: Any = None, aggregation: Any = None, **kwargs: Any
    ) -> Any:
        if args and isinstance(args[0], str):
            kwargs["name"], args = args[0], args[1:]
        if aggregation is not None:
            kwargs["aggregation"] = _lower_name(aggregation)
        variable = add(self, *args, **kwargs)
        if synchronization is not None:
            variable._synchronization = _lower_name(synchronization)
        return variable

    return add_weight


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


def _takes_lr(make: Callable[..., None]) -> Callable[..., None]:
    """Makes optimizers take `lr=`, and a learning rate that is an integer or an array."""

    @functools.wraps(make)
    def __init__(self: Any, learning_rate: Any, *args: Any, lr: Any = None, **kwargs: Any) -> None:
        rate = learning_rate if lr is None else lr
        if isinstance(rate, (numbers.Real, jax.Array, np.ndarray)):
            rate = float(rate)
        make(self, rate, *args, **kwargs)

    return __init__


def _get_lr(self: Any) -> Any:
    """The learning rate; Keras 3 calls this `learning_rate`."""
    return self.learning_rate


def _set_lr(self: Any, rate: Any) -> None:
    self.learning_rate = rate


def _apply_gradients(
    self: Any,
    grads_and_vars: Any,
    name: str | None = None,
    skip_gradients_aggregation: bool = False,
    experimental_aggregate_gradients: bool = True,
) -> Any:
    """Changes variables by gradients, with the arguments that Keras 2 has.

    In a function that `strategy.run` runs, the gradients are summed over the replicas first.

    Args:
        self: the optimizer.
        grads_and_vars: pairs of a gradient and a variable.
        name: accepted.
        skip_gradients_aggregation: whether the gradients are sums over the replicas already.
        experimental_aggregate_gradients: the opposite, as the older optimizers have it.

    Returns:
        The number of steps so far.

    Raises:
        RuntimeError: called in cross-replica context.
    """
    # The engine gives optimizers another version of this in a replica, so this is none.
    del name, skip_gradients_aggregation, experimental_aggregate_gradients
    if in_cross_replica_context():
        raise RuntimeError(
            "apply_gradients() cannot be called in cross-replica context. Use "
            "tf.distribute.Strategy.run to enter replica context: strategy.run(train_step, args=(batch,))."
        )
    gradients, variables = zip(*grads_and_vars, strict=True)
    self.apply(gradients, variables)
    return self._iterations


class _Weight:
    """A `tf.Variable` as Keras's optimizers want it: `value` is no method, and a constraint exists."""

    constraint = None

    def __init__(self, variable: Variable) -> None:
        self.name, self.shape, self.dtype = variable.name, variable.shape, str(variable.dtype)
        self.variable = variable

    @property
    def value(self) -> Any:
        return self.variable.value()

    def assign(self, value: Any) -> None:
        # All replicas hold the same new value, so an aggregation has nothing to do.
        self.variable._set(jax.numpy.asarray(value, self.dtype))

    def assign_add(self, value: Any) -> None:
        self.assign(self.value + value)

    def assign_sub(self, value: Any) -> None:
        self.assign(self.value - value)

    def __jax_array__(self) -> Any:
        return self.value


def _takes_variables(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Makes optimizers train `tf.Variable`, and take gradients that were gathered in variables."""

    @functools.wraps(apply)
    def with_weights(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        grads = [grad.value() if isinstance(grad, Variable) else grad for grad in grads]
        if trainable_variables is not None:
            known = self.__dict__.setdefault("_tf_weights", {})
            trainable_variables = [
                known.setdefault(id(variable), _Weight(variable))
                if isinstance(variable, Variable)
                else variable
                for variable in trainable_variables
            ]
        return apply(self, grads, trainable_variables)

    return with_weights


def _minimize(self: Any, loss: Any, var_list: Any, tape: Any = None, name: str = "") -> Any:
    """Computes the gradients of a loss and applies them.

    Args:
        self: the optimizer.
        loss: a function without arguments, or an array that `tape` recorded.
        var_list: variables, or a function that returns them.
        tape: the tape that recorded the loss.
        name: accepted.

    Returns:
        The number of steps so far.

    Raises:
        ValueError: the loss is an array, and there is no tape.
    """
    del name
    if callable(loss):
        with GradientTape() as tape:
            loss = loss()
    elif tape is None:
        raise ValueError(
            "minimize got a loss that is an array, but no tape. Pass the tape that recorded it, "
            "tape=tape, or a function that computes the loss."
        )
    variables: Any = var_list() if callable(var_list) else var_list
    return self.apply_gradients(zip(tape.gradient(loss, [*variables]), variables, strict=True))


def _scale(self: Any) -> Any:
    """What the loss is multiplied by now."""
    return self.dynamic_scale.value if self.built else ops.convert_to_tensor(self.initial_scale)


def _get_scaled_loss(self: Any, loss: Any) -> Any:
    """Scales a loss, or a function that computes one; Keras 3 calls this `scale_loss`."""
    return (lambda: self.scale_loss(loss())) if callable(loss) else self.scale_loss(loss)


def _get_unscaled_gradients(self: Any, grads: Sequence[Any]) -> list[Any]:
    """Divides gradients of a scaled loss by the scale.

    From then on `apply_gradients` takes unscaled gradients, as in Keras 2; without a call of this it
    takes gradients of the scaled loss, as in Keras 3.
    """
    _UNSCALED.add(self)
    scale = _scale(self)
    return [None if grad is None else grad / ops.cast(scale, grad.dtype) for grad in grads]


# Optimizers that get gradients without the scale.
_UNSCALED: "weakref.WeakSet[Any]" = weakref.WeakSet()


def _takes_unscaled(apply: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(apply)
    def scaled_again(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        if self in _UNSCALED:
            # Keras divides. The scale is a power of two, so nothing is lost.
            scale = _scale(self)
            grads = jax.tree.map(lambda grad: grad * ops.cast(scale, grad.dtype), list(grads))
        return apply(self, grads, trainable_variables)

    return scaled_again
