"""Losses of Keras on the entries that a mask took in a program, as `tf.boolean_mask` takes them in what `strategy.run` runs."""

import functools
from collections.abc import Callable
from typing import Any

import jax

from frontends.tf.distribute.scope import get_strategy
from frontends.tf.math import reduce_mean, reduce_sum
from frontends.tf.selected import Selected, traced
from spmd.integrations.keras import KerasObject, Method


def loss_of_entries(
    call: Method, /, self: KerasObject, y_true: Any, y_pred: Any, sample_weight: Any = None
) -> Any:
    """Wraps `Loss.__call__`: a mean is over the entries that a mask took, and a replica's share, as of a whole batch."""
    if not _has_selected((y_true, y_pred, sample_weight)):
        return call(self, y_true, y_pred, sample_weight)
    reduction, self.reduction = self.reduction, "none"
    try:
        name = f"tf.keras.losses.{type(self).__name__}"
        losses = traced(name, functools.partial(call, self), y_true, y_pred, sample_weight)
    finally:
        self.reduction = reduction
    if reduction in (None, "none"):
        return losses
    if reduction == "sum":
        return reduce_sum(losses)
    return reduce_mean(losses) / get_strategy().num_replicas_in_sync


def of_entries(module: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a loss or a metric that is a function."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _has_selected((args, kwargs)):
            return traced(f"{module}.{function.__name__}", function, *args, **kwargs)
        return function(*args, **kwargs)

    return call


def _has_selected(values: Any) -> bool:
    leaves = jax.tree.leaves(values, is_leaf=lambda value: isinstance(value, Selected))
    return any(isinstance(leaf, Selected) for leaf in leaves)
