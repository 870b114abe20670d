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
    if mask is None:
        return update(*bound.args, **bound.kwargs)
    weight, metric = bound.arguments.get("sample_weight"), getattr(update, "__self__", None)
    if weight is not None:
        bound.arguments["sample_weight"] = weights_of_rows(mask.rows, weight, jnp.float32)
        return update(*bound.args, **bound.kwargs)
    counts = str(getattr(metric, "dtype", "")).startswith("int")
    rows = weights_of_rows(mask.rows, None, jnp.int32 if counts else jnp.float32)
    refused: Exception | None = None
    for shape in _weight_shapes(metric, rows, values):
        per_row = rows.reshape(-1, *[1] * (len(shape) - 1))
        bound.arguments["sample_weight"] = jnp.broadcast_to(per_row, shape)
        try:
            return update(*bound.args, **bound.kwargs)
        except (TypeError, ValueError) as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _weight_shapes(metric: Any, rows: jax.Array, values: Sequence[Any]) -> list[tuple[int, ...]]:
    """Lists the shapes of weights that a metric may take, the best one first: of rows, or of what is in them.

    Means take weights of rows. Counts of Keras, such as `Precision` and `MeanIoU`, compare element by element, or class by class
    along the last axis, and take a weight for each of these; fewer could be taken for those of another axis.
    """
    of_rows = [tuple(rows.shape)]
    shapes = [tuple(jnp.shape(value)) for value in jax.tree.leaves(values)]
    inner = [shape for shape in shapes if len(shape) > 2 and shape[0] == rows.shape[0]]
    if not inner or isinstance(metric, keras.metrics.Mean):
        return of_rows
    of_elements = list(dict.fromkeys([*inner, *(shape[:-1] for shape in inner)]))
    is_of_keras = type(metric).__module__.startswith("keras.")
    return [*of_elements, *of_rows] if is_of_keras else [*of_rows, *of_elements]


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
