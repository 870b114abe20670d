"""Metrics of Keras in a replica: updates leave padding out, a result is that of all replicas.

Touches Keras internals, which tests/spmd/integrations/keras/test_metrics.py runs on every supported version:
`Variable._value`, `get_keras_mask`, `StatelessScope`, `MeanMetricWrapper`.
"""

import contextlib
import contextvars
import inspect
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
from keras.src.backend.common.masking import get_keras_mask
from keras.src.backend.common.stateless_scope import get_stateless_scope
from keras.src.metrics.reduction_metrics import MeanMetricWrapper

from spmd.assigned import assigned
from spmd.integrations.keras.masking import padding_masked, rows_of, weights_of_rows
from spmd.integrations.keras.parts import kind_of, variables_of
from spmd.integrations.keras.typing import Method, Metric, Variable
from spmd.replica import ReduceOp, all_reduce
from spmd.state import Kind
from spmd.typing import PyTree

_REDUCTIONS: dict[Kind, ReduceOp] = {Kind.SUM: "sum", Kind.MEAN: "mean"}
# The variables that are reduced already, by id: a result may ask for the results of metrics inside of its own.
_REDUCED: contextvars.ContextVar[frozenset[int]] = contextvars.ContextVar(
    "keras_reduced", default=frozenset()
)


def update_with_valid_rows(update: Method, /, *args: object, **kwargs: object) -> None:
    """Calls a metric's `update_state` with weights, or masks, that leave padding out."""
    try:
        signature = inspect.signature(update)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return update(*args, **kwargs)  # the error, if it is one, is Keras's
    if "sample_weight" in signature.parameters:
        weight = bound.arguments.get("sample_weight")
        values = [value for name, value in bound.arguments.items() if name != "sample_weight"]
        mask = rows_of(values)
        metric: Any = getattr(update, "__self__", None)
        if _is_of_batch(metric, values):
            # Padding counts in it, so that the step runs on the rows that there are; on some replicas there may be none.
            if any(jnp.shape(value)[:1] == (0,) for value in jax.tree.leaves(values)):
                return keras.metrics.Mean.update_state(metric, 0.0, sample_weight=0.0)
            return update(*bound.args, **bound.kwargs)
        masked = [value for value in values if get_keras_mask(value) is not None]
        if mask is not None and masked:
            # Keras refuses weights of rows together with a mask of what is in them.
            with contextlib.ExitStack() as stack:
                for value in masked:
                    stack.enter_context(padding_masked(value, mask))
                return update(*bound.args, **bound.kwargs)
        if mask is not None:
            bound.arguments["sample_weight"] = weights_of_rows(mask.rows, weight, jnp.float32)
    return update(*bound.args, **bound.kwargs)


def _is_of_batch(metric: Any, values: Sequence[object]) -> bool:
    """Tells whether a metric averages what the user's function gives for a batch: one number."""
    if not isinstance(metric, MeanMetricWrapper):
        return False
    wrapper: Any = metric
    return jax.eval_shape(lambda: wrapper._fn(*values, **wrapper._fn_kwargs)).ndim == 0


def result_of_all(metric: Metric, result: Method, /, *args: object, **kwargs: object) -> PyTree:
    """Reads a metric in a replica: the result over all replicas, as outside of the step."""
    variables = [
        variable
        for variable in variables_of(metric)
        if kind_of(variable) in _REDUCTIONS and variable._value is not None
        if id(variable) not in _REDUCED.get()
    ]
    own = list(map(_value, variables))
    with assigned(_REDUCED, _REDUCED.get().union(map(id, variables))):
        try:
            for variable, value in zip(variables, own, strict=True):
                _set(variable, all_reduce(value, _REDUCTIONS[kind_of(variable)]))
            return result(*args, **kwargs)
        finally:
            for variable, value in zip(variables, own, strict=True):
                _set(variable, value)


def _value(variable: Variable) -> jax.Array:
    scope: Any = get_stateless_scope()
    held = scope and scope.get_current_value(variable)
    return variable._value if held is None else held


def _set(variable: Variable, value: jax.Array) -> None:
    scope: Any = get_stateless_scope()
    if scope is None:
        variable._value = value
    else:
        scope.add_update((variable, value))
