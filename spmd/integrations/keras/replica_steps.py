"""Keras's own training, evaluation and prediction steps, for the rows of one replica.

Touches Keras internals, which tests/spmd/integrations/keras/test_trainer.py runs on every supported version:
`Model._loss_tracker`, `._call_has_training_arg` and `compute_loss_and_updates`.
"""

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras

from spmd.integrations.keras.losses import sharing
from spmd.integrations.keras.typing import Batch, Logs, Method, Model, Variable
from spmd.typing import ArrayLike, PyTree

_MODEL: Any = keras.Model


def _logs_of_rows(model: Model, data: Batch, *, training: bool) -> Logs:
    """Runs Keras's training or evaluation step on one replica's rows."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
    optimizer = model.optimizer
    trainable = model.trainable_variables

    def compute(values: Sequence[jax.Array]) -> tuple[jax.Array, Sequence[Any]]:
        return model.compute_loss_and_updates(
            values,
            _values(model.non_trainable_variables),
            _values(model.metrics_variables),
            x,
            y,
            sample_weight,
            training=training,
            optimizer_variables=_values(optimizer.variables if optimizer else []),
        )

    gradients = None
    if training and optimizer is not None:
        (_, aux), gradients = jax.value_and_grad(compute, has_aux=True)(_values(trainable))
    else:
        _, aux = compute(_values(trainable))
    loss, y_pred, others, metrics = aux
    _assign(model.non_trainable_variables, others)
    _assign(model.metrics_variables, metrics)
    if gradients is not None:
        model.optimizer.apply(gradients, trainable)
    rows = jnp.shape(next(iter(jax.tree.leaves(x))))[0]
    model._loss_tracker.update_state(loss, sample_weight=rows)
    return model.compute_metrics(x, y, y_pred, sample_weight)


def _predict_rows(model: Model, data: Batch) -> PyTree:
    """Runs Keras's prediction step on one replica's rows."""
    x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
    return model(x, training=False) if model._call_has_training_arg else model(x)


# Keras's own steps for the rows of a replica, by the loop that takes them.
REPLICA_STEPS: dict[str, Method] = {
    "train": functools.partial(_logs_of_rows, training=True),
    "test": functools.partial(_logs_of_rows, training=False),
    "predict": _predict_rows,
}


def _values(variables: Sequence[Variable]) -> list[jax.Array]:
    return [variable.value for variable in variables]


def _assign(variables: Sequence[Variable], values: Sequence[ArrayLike]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def step_of_rows(
    of_rows: Method, step: Method, /, self: Model, data: Batch, *rest: object
) -> PyTree:
    """Wraps `Trainer.train_step` and its like: takes a batch, beside Keras's `(state, data)` on JAX."""
    if rest:
        return step(self, data, *rest)
    with sharing(self):
        return of_rows(self, data)


def is_overridden(model: Model, method: str) -> bool:
    """Tells whether a model's class has a step of its own."""
    return getattr(type(model), method) is not getattr(_MODEL, method)


def call_step(model: Model, method: str, data: Batch) -> PyTree:
    """Calls a model's step as its class wrote it: with a batch, or with state, as Keras does on JAX."""
    step = getattr(model, method)
    if not is_overridden(model, method) or len(inspect.signature(step).parameters) == 1:
        return step(data)
    variables = [model.trainable_variables, model.non_trainable_variables]
    if method == "train_step":
        variables.append(model.optimizer.variables)
    if method != "predict_step":
        variables.append(model.metrics_variables)
    state = tuple(map(_values, variables))
    result, state = step(state, data)
    if method == "predict_step":  # returns only the state that it may change
        variables, state = variables[1:], (state,)
    for group, values in zip(variables, state, strict=True):
        _assign(group, values)
    return result
