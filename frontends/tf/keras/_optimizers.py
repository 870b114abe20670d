"""What Keras 2's optimizers have and scripts still use: `lr`, `apply_gradients`, `minimize`, and loss scaling."""

import functools
import numbers
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from keras import ops, optimizers

from frontends.tf._typing import TensorLike, VariableLike
from frontends.tf.distribute.scope import in_cross_replica_context
from frontends.tf.distribute.variable_parts import whole_pairs, whole_variables
from frontends.tf.gradient_tape import GradientTape
from frontends.tf.graph import current_graph
from frontends.tf.indexed_slices import is_slices
from frontends.tf.keras._weights import as_weight
from frontends.tf.module import Module
from frontends.tf.variable import Variable
from spmd.integrations.keras import Method, Optimizer


def take_lr(
    make: Method,
    /,
    self: Optimizer,
    learning_rate: object,
    *args: object,
    lr: object = None,
    **kwargs: Any,
) -> None:
    """Wraps `Optimizer.__init__`: takes `lr=`, and a learning rate that is an integer, an array or a variable.

    `decay` beside `lr` is Keras 2's: the rate decays. Beside `learning_rate`, Keras 3 ignores it, with a warning.
    """
    rate = learning_rate if lr is None else lr
    decay = 0.0 if lr is None else kwargs.pop("decay", None) or 0.0
    if isinstance(rate, Variable) and rate.shape == ():
        rate = VariableRate(rate)
    if isinstance(rate, jax.Array) and current_graph() is not None:
        rate = TracedRate(rate)
    elif isinstance(rate, (numbers.Real, jax.Array, np.ndarray)):
        rate = float(rate)
    make(self, rate, *args, **kwargs)
    if decay:
        self.decay = float(decay)


def decayed(self: Any, rate: TensorLike) -> TensorLike:
    """Divides a learning rate by 1 + decay * steps, as Keras 2 does, if the optimizer has a decay."""
    decay = getattr(self, "decay", 0.0)
    if not decay:
        return rate
    rate = jnp.asarray(rate)
    return rate / (1 + decay * jnp.asarray(self.iterations, rate.dtype))


def decay_rate(
    update: Method,
    /,
    self: Optimizer,
    grads: Sequence[TensorLike],
    trainable_variables: Sequence[VariableLike],
    learning_rate: TensorLike,
) -> None:
    """Wraps `Optimizer._backend_update_step`, which gets the learning rate of the step."""
    update(self, grads, trainable_variables, decayed(self, learning_rate))


class VariableRate(Module):
    """A learning rate in a variable: Keras asks for it at each step, so what is assigned to it holds from then on."""

    def __init__(self, rate: VariableLike) -> None:
        """Holds the variable."""
        super().__init__()
        self.rate = rate

    def __call__(self) -> VariableLike:
        """Returns the variable."""
        return self.rate

    def assign(self, rate: TensorLike) -> None:
        """Changes the variable; Keras calls this for `optimizer.learning_rate = rate`."""
        self.rate.assign(rate)

    def get_config(self) -> dict[str, Any]:
        """Returns the number."""
        return {"rate": float(self.rate)}


class TracedRate(optimizers.schedules.LearningRateSchedule):
    """A learning rate that a model function computes: a tensor of the step that is traced."""

    def __init__(self, rate: jax.Array) -> None:
        """Holds the tensor."""
        self.rate = rate

    def __call__(self, step: object) -> jax.Array:
        """Returns the tensor, whatever the step."""
        return self.rate

    def get_config(self) -> dict[str, Any]:
        """Returns no options: a tensor has none."""
        return {}


def save_rate(get_config: Method, /, self: Optimizer) -> dict[str, Any]:
    """Wraps `Optimizer.get_config`: saves the decay, and of a learning rate in a variable the number."""
    config = get_config(self)
    if isinstance(self._learning_rate, VariableRate):
        config["learning_rate"] = float(self._learning_rate.rate)
    if getattr(self, "decay", 0.0):
        config["decay"] = self.decay
    return config


def take_saved_decay(from_config: Any) -> Any:
    """Wraps `Optimizer.from_config`: a decay that was saved is one that had an effect."""

    @classmethod
    @functools.wraps(from_config.__func__)
    def make(cls: Any, config: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if config.get("decay") and "learning_rate" in config:
            rate = config["learning_rate"]
            if isinstance(rate, dict):
                rate = optimizers.schedules.deserialize(rate)
            config = {name: value for name, value in config.items() if name != "learning_rate"}
            config["lr"] = rate
        return from_config.__func__(cls, config, *args, **kwargs)

    return make


def take_no_name(make: Method, /, self: Any, *args: object, **kwargs: Any) -> None:
    """Wraps a schedule's `__init__`: takes `name=None`, which Keras 2 has for the class's name."""
    if kwargs.get("name", "") is None:
        del kwargs["name"]
    make(self, *args, **kwargs)


def get_lr(self: Optimizer) -> Any:
    """The learning rate; Keras 3 calls this `learning_rate`."""
    return self.learning_rate


def set_lr(self: Optimizer, rate: object) -> None:
    """Changes the learning rate."""
    self.learning_rate = rate


def take_name(
    apply_gradients: Method,
    /,
    self: Optimizer,
    grads_and_vars: Iterable[tuple[TensorLike, VariableLike]],
    name: str | None = None,
    **kwargs: object,
) -> VariableLike:
    """Wraps `Optimizer.apply_gradients`: takes what Keras 2's does, and refuses what it refuses.

    In a function that `strategy.run` runs, the gradients are summed over the replicas first.

    Args:
        apply_gradients: Keras's own.
        self: the optimizer.
        grads_and_vars: pairs of a gradient and a variable; gradients may be None, but not all.
        name: ignored.
        **kwargs: `skip_gradients_aggregation`, whether the gradients are sums over the replicas
            already, or `experimental_aggregate_gradients`, the opposite.

    Returns:
        The number of steps so far.

    Raises:
        RuntimeError: called in cross-replica context.
        ValueError: there is no gradient.
    """
    if in_cross_replica_context():
        raise RuntimeError(
            "apply_gradients() cannot be called in cross-replica context. Use "
            "tf.distribute.Strategy.run to enter replica context: "
            "strategy.run(train_step, args=(batch,))."
        )
    pairs = list(grads_and_vars)
    if not pairs:
        return self.iterations
    gradients, variables = whole_pairs(*zip(*pairs, strict=True))
    # Keras's optimizers update all rows.
    pairs = list(zip(map(_array, gradients), variables, strict=True))
    if all(gradient is None for gradient, _ in pairs):
        names = [variable.name for _, variable in pairs]
        raise ValueError(
            f"No gradients provided for any variable: {names}. Compute the loss inside of the "
            "tape's block, from these variables: with tf.GradientTape() as tape: loss = ..."
        )
    return apply_gradients(self, pairs, **kwargs)


def take_variables(
    apply: Method,
    /,
    self: Optimizer,
    grads: Sequence[TensorLike],
    trainable_variables: Iterable[VariableLike] | None = None,
) -> object:
    """Wraps `Optimizer.apply`: trains `tf.Variable`, with gradients that may be gathered in variables."""
    grads = [grad.value() if isinstance(grad, Variable) else _array(grad) for grad in grads]
    # Keras does nothing without gradients, whatever the variables.
    if grads and trainable_variables is not None:
        grads, variables = whole_pairs(grads, list(trainable_variables))
        trainable_variables = [*map(as_weight, variables)]
    return apply(self, grads, trainable_variables)


def build_for_variables(
    build: Method, /, self: Optimizer, var_list: Iterable[VariableLike]
) -> None:
    """Wraps `Optimizer.build`: takes `tf.Variable`."""
    build(self, [*map(as_weight, whole_variables(var_list))])


def minimize(
    self: Optimizer,
    loss: TensorLike | Callable[[], TensorLike],
    var_list: Iterable[VariableLike] | Callable[[], Iterable[VariableLike]],
    tape: GradientTape | None = None,
    name: str = "",
) -> VariableLike:
    """Computes the gradients of a loss and applies them.

    Args:
        self: the optimizer.
        loss: a function without arguments, or an array that `tape` recorded.
        var_list: variables, or a function that returns them.
        tape: the tape that recorded the loss.
        name: ignored.

    Returns:
        The number of steps so far.

    Raises:
        ValueError: the loss is an array, and there is no tape.
    """
    if callable(loss):
        with GradientTape() as tape:
            loss = loss()
    elif tape is None:
        raise ValueError(
            "minimize got a loss that is an array, but no tape. Pass the tape that recorded it, "
            "tape=tape, or a function that computes the loss."
        )
    variables = [*(var_list() if callable(var_list) else var_list)]
    return self.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))


def loss_scale(self: Optimizer) -> jax.Array:
    """The factor that the loss is multiplied by now."""
    if self.built:
        return self.dynamic_scale.value
    return jnp.asarray(ops.convert_to_tensor(self.initial_scale))


def get_scaled_loss(self: Optimizer, loss: TensorLike | Callable[[], TensorLike]) -> Any:
    """Scales a loss, or a function that computes one; Keras 3 calls this `scale_loss`."""
    if callable(loss):
        return lambda: get_scaled_loss(self, loss())
    loss = jnp.asarray(loss)
    return loss * ops.cast(loss_scale(self), loss.dtype)


def get_unscaled_gradients(self: Optimizer, grads: Sequence[TensorLike]) -> list[jax.Array | None]:
    """Divides gradients of a scaled loss by the scale.

    From then on `apply_gradients` takes unscaled gradients, as in Keras 2, until `scale_loss` is
    called: then it takes gradients of the scaled loss, as in Keras 3.
    """
    _UNSCALED.add(self)
    scale = loss_scale(self)
    arrays = map(_array, grads)
    return [None if grad is None else grad / ops.cast(scale, grad.dtype) for grad in arrays]


def _array(gradient: TensorLike) -> Any:
    """Makes an array of a gradient of rows."""
    return jnp.asarray(gradient) if is_slices(gradient) else gradient


# Optimizers that get gradients without the scale.
_UNSCALED: "weakref.WeakSet[Any]" = weakref.WeakSet()


def scale_as_keras_3(scale_loss: Method, /, self: Optimizer, loss: TensorLike) -> jax.Array:
    """Wraps `LossScaleOptimizer.scale_loss`: begins a step as Keras 3 writes it, whatever ran before."""
    _UNSCALED.discard(self)
    return scale_loss(self, loss)


def take_unscaled(
    apply: Method,
    /,
    self: Optimizer,
    grads: Sequence[TensorLike],
    trainable_variables: Sequence[VariableLike] | None = None,
) -> object:
    """Wraps `LossScaleOptimizer.apply`: takes what `get_unscaled_gradients` returned."""
    if self in _UNSCALED:
        # Keras divides. The scale is a power of two, so nothing is lost.
        scale = loss_scale(self)
        grads = jax.tree.map(
            lambda grad: grad * ops.cast(scale, grad.dtype), list(grads), is_leaf=is_slices
        )
    return apply(self, grads, trainable_variables)
