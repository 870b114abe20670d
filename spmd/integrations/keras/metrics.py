"""Metrics of Keras in a replica: updates leave padding out, a result is that of all replicas.

Touches Keras internals, which tests/spmd/integrations/keras/test_metrics.py runs on every supported version:
`Variable._value`, `get_keras_mask`, `StatelessScope`, `MeanMetricWrapper`.
"""

import contextlib
import contextvars
import inspect
from collections.abc import Generator, Sequence
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
    if "sample_weight" not in signature.parameters:
        return update(*bound.args, **bound.kwargs)
    values = [value for name, value in bound.arguments.items() if name != "sample_weight"]
    metric: Any = getattr(update, "__self__", None)
    if not isinstance(metric, MeanMetricWrapper) or _is_of_keras(metric):
        return _update(update, bound, values)
    with _computed_once(metric, values) as result:
        if jnp.ndim(result) > 0:
            return _update(update, bound, values)
        # Padding counts in one number for a batch, so that the step runs on the rows that there are. Some replicas may have none.
        if any(jnp.shape(value)[:1] == (0,) for value in jax.tree.leaves(values)):
            return keras.metrics.Mean.update_state(metric, 0.0, sample_weight=0.0)
        return update(*bound.args, **bound.kwargs)


def _update(update: Method, bound: inspect.BoundArguments, values: Sequence[Any]) -> None:
    """Calls `update_state` with weights, or masks, of valid rows."""
    mask = rows_of(values)
    masked = [value for value in values if get_keras_mask(value) is not None]
    if mask is not None and masked:
        # Keras refuses weights of rows together with a mask of what is in them.
        with contextlib.ExitStack() as stack:
            for value in masked:
                stack.enter_context(padding_masked(value, mask))
            return update(*bound.args, **bound.kwargs)
    if mask is not None:
        weight = bound.arguments.get("sample_weight")
        bound.arguments["sample_weight"] = weights_of_rows(mask.rows, weight, jnp.float32)
    return update(*bound.args, **bound.kwargs)


def _is_of_keras(metric: Any) -> bool:
    """Tells whether a metric averages what a function of Keras gives: a number for each row, or for what is in it."""
    return inspect.isfunction(metric._fn) and metric._fn.__module__.startswith("keras.")


@contextlib.contextmanager
def _computed_once(metric: Any, values: Sequence[Any]) -> Generator[Any]:
    """Calls the user's function of a metric, and has the metric take the result: a second call could draw other numbers."""
    own, function = vars(metric), metric._fn
    result = function(*values, **metric._fn_kwargs)
    own["_fn"] = lambda *_args, **_kwargs: result
    try:
        yield result
    finally:
        own["_fn"] = function


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
