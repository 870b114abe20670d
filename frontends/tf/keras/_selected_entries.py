"""Losses of Keras on the entries that a mask took in a program, as `tf.boolean_mask` takes them in what `strategy.run` runs."""

import copy
import functools
from collections.abc import Callable
from typing import Any

import jax

import frontends.tf
from frontends.tf.distribute.scope import get_strategy
from frontends.tf.math import divide_no_nan, reduce_sum
from frontends.tf.selected import is_selected, traced
from spmd.integrations.keras import KerasObject, Method
from spmd.replica import all_reduce


def loss_of_entries(
    call: Method, /, self: KerasObject, y_true: Any, y_pred: Any, sample_weight: Any = None
) -> Any:
    """Wraps `Loss.__call__`: a mean is a replica's share of the mean over the entries that masks took on all replicas.

    Raises:
        SelectionError: the loss does what selected entries cannot do.
    """
    if not _has_selected((y_true, y_pred, sample_weight)):
        return call(self, y_true, y_pred, sample_weight)
    each = copy.copy(self)  # other threads may be calling this one
    each.reduction = "none"
    name = f"tf.keras.losses.{type(self).__name__}"
    losses = traced(name, functools.partial(call, each), y_true, y_pred, sample_weight)
    if self.reduction in (None, "none"):
        return losses
    total = reduce_sum(losses)
    if self.reduction == "sum":
        return total
    by_weight = self.reduction == "mean_with_sample_weight" and sample_weight is not None
    count = reduce_sum(sample_weight if by_weight else frontends.tf.ones_like(losses))
    if get_strategy().num_replicas_in_sync > 1:
        count = all_reduce(count)
    return divide_no_nan(total, frontends.tf.cast(count, total.dtype))


def of_entries(module: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a loss or a metric that is a function.

    Args:
        module: TensorFlow's name of its module, for errors.
        function: of Keras's.

    Returns:
        A function that raises SelectionError for what selected entries cannot do.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _has_selected((args, kwargs)):
            return traced(f"{module}.{function.__name__}", function, *args, **kwargs)
        return function(*args, **kwargs)

    return call


def _has_selected(values: Any) -> bool:
    return any(map(is_selected, jax.tree.leaves(values)))
