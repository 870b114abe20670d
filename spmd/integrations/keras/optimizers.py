"""Optimizers of Keras in a replica: gradients are summed once, and a scaled loss needs no branch.

Touches Keras internals, which tests/spmd/integrations/keras/test_optimizers.py runs on every supported version:
`Optimizer._trainable_variables` and `._overwrite_variable_with_gradient`, `LossScaleOptimizer._common_apply`, and
that `Optimizer.apply` builds an optimizer that is not `built`, in a scope of its name.
"""

import contextvars
from collections.abc import Iterable, Sequence

import jax
import jax.numpy as jnp
import keras

from spmd.assigned import assigned
from spmd.integrations.keras.typing import Method, Optimizer, Variable
from spmd.replica import current_frame, sum_gradients

# Whether gradients are sums over the replicas: an outer optimizer has summed them, or the user said so.
_SUMMED: contextvars.ContextVar[bool] = contextvars.ContextVar("keras_summed", default=False)


def apply_summed(
    apply: Method,
    /,
    grads: Iterable[jax.Array | None],
    trainable_variables: Sequence[Variable] | None = None,
) -> None:
    """Calls an optimizer's `apply` with gradients that are summed over the replicas, unless they are."""
    if _SUMMED.get():
        return apply(grads, trainable_variables)
    with assigned(_SUMMED, True):
        arrays = [grad if grad is None else jnp.asarray(grad) for grad in grads]
        return apply(sum_gradients(arrays), trainable_variables)


def build_in_step(
    apply: Method,
    /,
    self: Optimizer,
    grads: Iterable[jax.Array | None],
    trainable_variables: Iterable[Variable] | None = None,
) -> None:
    """Wraps `Optimizer.apply`: reports to the step the slots that an optimizer makes at its first call."""
    if trainable_variables is None:
        return apply(self, grads)
    grads, variables, frame = list(grads), list(trainable_variables), current_frame()
    if grads and not self.built and frame is not None and frame.making_state is not None:
        with frame.making_state(), keras.name_scope(self.name, caller=self):
            self.build(variables)
            self.built = True
    return apply(self, grads, variables)


def take_aggregation(
    apply_gradients: Method,
    /,
    self: Optimizer,
    grads_and_vars: Iterable[tuple[jax.Array | None, Variable]],
    skip_gradients_aggregation: bool = False,
    experimental_aggregate_gradients: bool = True,
) -> object:
    """Wraps `Optimizer.apply_gradients`: takes Keras 2's keyword arguments for replicas."""
    aggregate = experimental_aggregate_gradients and not skip_gradients_aggregation
    with assigned(_SUMMED, _SUMMED.get() or not aggregate):
        return apply_gradients(self, grads_and_vars)


def apply_if_finite(
    optimizer: Optimizer,
    grads: Sequence[jax.Array | None],
    trainable_variables: Sequence[Variable] | None = None,
) -> None:
    """Replaces `LossScaleOptimizer._common_apply`: selects values, where Keras writes variables in branches."""
    inner = optimizer.inner_optimizer
    weights = list(trainable_variables or optimizer._trainable_variables)
    finite = optimizer.check_finite(grads)
    scale, count = optimizer.dynamic_scale.value, optimizer.step_counter.value
    variables = [*weights, *inner.variables]
    before = [variable.value for variable in variables]
    unscaled = [
        grad
        if grad is None or optimizer._overwrite_variable_with_gradient(weight)
        else grad / scale
        for grad, weight in zip(grads, weights, strict=True)
    ]
    inner.apply(unscaled, weights)
    for variable, value in zip(variables, before, strict=True):
        variable.assign(jnp.where(finite, variable.value, value))
    grown = count == optimizer.dynamic_growth_steps - 1
    optimizer.dynamic_scale.assign(
        jnp.where(finite, jnp.where(grown, scale * 2, scale), scale * 0.5)
    )
    optimizer.step_counter.assign(jnp.where(finite & ~grown, count + 1, 0))
