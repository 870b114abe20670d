"""`tf.contrib.layers.optimize_loss`: gradients, noise, clipping, an optimizer and summaries in one call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from frontends.tf import clip_by_global_norm, random
from frontends.tf._typing import TensorLike, VariableLike
from frontends.tf.compat.v1 import summary
from frontends.tf.compat.v1.collections import GraphKeys, get_collection, trainable_variables
from frontends.tf.compat.v1.initializers.constants import Constant
from frontends.tf.compat.v1.slots import name_of
from frontends.tf.compat.v1.train import optimizers
from frontends.tf.compat.v1.train.optimizer import Optimizer
from frontends.tf.compat.v1.train.steps import assert_global_step, get_global_step
from frontends.tf.compat.v1.variable_scopes import get_variable, variable_scope
from frontends.tf.contrib.fetching import fetched_with
from frontends.tf.indexed_slices import is_slices
from frontends.tf.ops.control_flow import control_dependencies
from frontends.tf.ops.linalg import global_norm
from frontends.tf.ops.special import scalar_mul

_OPTIMIZERS: dict[str, Callable[[Any], Optimizer]] = {
    "Adagrad": optimizers.AdagradOptimizer,
    "Adam": optimizers.AdamOptimizer,
    "Ftrl": optimizers.FtrlOptimizer,
    "Momentum": lambda rate: optimizers.MomentumOptimizer(rate, momentum=0.9),
    "RMSProp": optimizers.RMSPropOptimizer,
    "SGD": optimizers.GradientDescentOptimizer,
}
# What is shown, unless the call says what.
_SHOWN = ("loss", "learning_rate", "global_gradient_norm")
_SUMMARIES = (*_SHOWN, "gradients", "gradient_norm")


def optimize_loss(
    loss: TensorLike,
    global_step: VariableLike | None,
    learning_rate: TensorLike,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """Trains by a loss, in a model function.

    Args:
        loss: a number.
        global_step: None takes that of the model function.
        learning_rate: a number, which becomes the variable `learning_rate`, or a tensor; None leaves it to the optimizer.
        optimizer: `"Adagrad"`, `"Adam"`, `"Ftrl"`, `"Momentum"`, `"RMSProp"` or `"SGD"`; an optimizer of TensorFlow 1, its class,
            or a function that makes one of a learning rate.
        gradient_noise_scale: size of normal numbers that are added to gradients.
        gradient_multipliers: of gradients, by variable or its name.
        clip_gradients: the largest global norm of the gradients, or a function that changes the pairs of gradients and variables.
        learning_rate_decay_fn: makes of the learning rate and the step the learning rate of the step.
        update_ops: what runs before; None takes those of `UPDATE_OPS`.
        variables: what is trained; None takes all.
        name: of the scope; without one it is `OptimizeLoss`, numbered.
        summaries: what to show of `"loss"`, `"learning_rate"`, `"gradients"`, `"gradient_norm"` and `"global_gradient_norm"`.
        colocate_gradients_with_ops: accepted, and not used.
        increment_global_step: whether to add 1 to the global step.

    Returns:
        The loss, which trains when it is fetched: the `train_op` of a `tf.estimator.EstimatorSpec`.

    Raises:
        ValueError: the optimizer, the learning rate, the step or the clipping is none that is described above; or there is
            no variable to train.

    Source: `tf.contrib.layers.optimize_loss`.
    """
    step = get_global_step() if global_step is None else global_step
    if step is not None:
        assert_global_step(step)
    shown = _SHOWN if summaries is None else summaries
    unknown = [one for one in shown if one not in _SUMMARIES]
    if unknown:
        raise ValueError(
            f"Summaries should be one of [{', '.join(_SUMMARIES)}], you provided {unknown[0]}."
        )
    updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    with variable_scope(name, "OptimizeLoss", [loss, step]):
        rate = _rate(learning_rate)
        if rate is not None and learning_rate_decay_fn is not None:
            if step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, step)
        if rate is not None and "learning_rate" in shown:
            summary.scalar("learning_rate", jnp.asarray(rate))
        chosen = _optimizer(optimizer, rate)
        trained = trainable_variables() if variables is None else variables
        pairs = chosen.compute_gradients(loss, trained)
        if not pairs:
            raise ValueError(
                "optimize_loss: No variables to optimize. Make one before, with tf.get_variable or a layer, or write variables=[...]."
            )
        if gradient_noise_scale is not None:
            pairs = [(_noisy(gradient, gradient_noise_scale), one) for gradient, one in pairs]
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
        if "global_gradient_norm" in shown:
            norm = global_norm([gradient for gradient, _ in pairs if gradient is not None])
            summary.scalar("global_norm/gradient_norm", norm)
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in shown:
            summary.scalar("loss", loss)
        for gradient, variable in pairs:
            if gradient is None:
                continue
            if "gradients" in shown:
                values = gradient.values if is_slices(gradient) else gradient
                summary.histogram(f"gradients/{name_of(variable)}", values)
            if "gradient_norm" in shown:
                summary.scalar(f"gradient_norm/{name_of(variable)}", global_norm([gradient]))
        with control_dependencies(updates):
            train = chosen.apply_gradients(
                pairs, step if increment_global_step else None, name="train"
            )
        return fetched_with(train, loss, "train_loss")


def _rate(learning_rate: TensorLike) -> Any:
    if isinstance(learning_rate, (int, float)):
        if learning_rate < 0:
            raise ValueError(f"Invalid learning_rate {learning_rate}.")
        start = Constant(float(learning_rate))
        return get_variable("learning_rate", [], initializer=start, trainable=False)
    if learning_rate is not None and getattr(learning_rate, "shape", None) != ():
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {learning_rate!r} of type {type(learning_rate)}"
        )
    return learning_rate


def _optimizer(optimizer: Any, rate: TensorLike) -> Optimizer:
    if isinstance(optimizer, Optimizer):
        return optimizer
    if isinstance(optimizer, str):
        if optimizer not in _OPTIMIZERS:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(_OPTIMIZERS)}], you provided {optimizer}."
            )
        optimizer = _OPTIMIZERS[optimizer]
    elif not callable(optimizer):
        raise ValueError(
            f"Unrecognized optimizer: should be a string, an optimizer of tf.train, its class or a function. Got {optimizer!r}."
        )
    if rate is None and (isinstance(optimizer, type) or optimizer in _OPTIMIZERS.values()):
        raise ValueError("Learning rate must be specified if optimizer is a name or a class.")
    made = optimizer() if rate is None else optimizer(rate)
    if not isinstance(made, Optimizer):
        raise ValueError(
            f"Unrecognized optimizer: function should return an optimizer of tf.train. Got {made!r}."
        )
    return made


def _noisy(gradient: Any, scale: float) -> Any:
    return None if gradient is None else gradient + scale * random.truncated_normal(gradient.shape)


def _multiplied(
    pairs: Sequence[tuple[Any, Any]], factors: Mapping[Any, Any]
) -> list[tuple[Any, Any]]:
    by_name = {
        one if isinstance(one, str) else name_of(one): factor for one, factor in factors.items()
    }
    return [
        (None if gradient is None else scalar_mul(by_name.get(name_of(one), 1.0), gradient), one)
        for gradient, one in pairs
    ]


def _clipped(pairs: Sequence[tuple[Any, Any]], clip: Any) -> Sequence[tuple[Any, Any]]:
    if clip is None:
        return pairs
    if callable(clip):
        found: Any = clip(pairs)
        return found
    if not isinstance(clip, (int, float)):
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    gradients, variables = zip(*pairs, strict=True)
    clipped, _ = clip_by_global_norm(gradients, clip)
    return list(zip(clipped, variables, strict=True))
