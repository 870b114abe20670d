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


def train_rows(model: Model, data: Batch) -> Logs:
    """Runs Keras's training step on one replica's rows."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
    if model.optimizer is None:
        loss, y_pred = _loss_of_rows(model, x, y, sample_weight, training=True)
    else:
        trainable = model.trainable_variables
        gradients_of = jax.value_and_grad(
            functools.partial(model.compute_loss_and_updates, training=True), has_aux=True
        )
        (_, aux), gradients = gradients_of(
            _values(trainable),
            _values(model.non_trainable_variables),
            _values(model.metrics_variables),
            x,
            y,
            sample_weight,
            optimizer_variables=_values(model.optimizer.variables),
        )
        loss, y_pred = _store_updates(model, aux)
        model.optimizer.apply(gradients, trainable)
    return _logs_of_rows(model, loss, x, y, y_pred, sample_weight)


def evaluate_rows(model: Model, data: Batch) -> Logs:
    """Runs Keras's evaluation step on one replica's rows."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
    loss, y_pred = _loss_of_rows(model, x, y, sample_weight, training=False)
    return _logs_of_rows(model, loss, x, y, y_pred, sample_weight)


def predict_rows(model: Model, data: Batch) -> PyTree:
    """Runs Keras's prediction step on one replica's rows."""
    x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
    return model(x, training=False) if model._call_has_training_arg else model(x)


def _loss_of_rows(
    model: Model, x: PyTree, y: PyTree, sample_weight: PyTree, training: bool
) -> tuple[jax.Array, PyTree]:
    _, aux = model.compute_loss_and_updates(
        _values(model.trainable_variables),
        _values(model.non_trainable_variables),
        _values(model.metrics_variables),
        x,
        y,
        sample_weight,
        training=training,
        optimizer_variables=_values(model.optimizer.variables if model.optimizer else []),
    )
    return _store_updates(model, aux)


def _store_updates(
    model: Model, aux: tuple[jax.Array, PyTree, Sequence[jax.Array], Sequence[jax.Array]]
) -> tuple[jax.Array, PyTree]:
    loss, y_pred, others, metrics = aux
    _assign(model.non_trainable_variables, others)
    _assign(model.metrics_variables, metrics)
    return loss, y_pred


def _values(variables: Sequence[Variable]) -> list[jax.Array]:
    return [variable.value for variable in variables]


def _assign(variables: Sequence[Variable], values: Sequence[ArrayLike]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _logs_of_rows(
    model: Model, loss: jax.Array, x: PyTree, y: PyTree, y_pred: PyTree, sample_weight: PyTree
) -> Logs:
    rows = jnp.shape(next(iter(jax.tree.leaves(x))))[0]
    model._loss_tracker.update_state(loss, sample_weight=rows)
    return model.compute_metrics(x, y, y_pred, sample_weight)


def _step_of_rows(of_rows: Method, step: Method) -> Method:
    """Takes a batch, as TensorFlow's steps do, beside Keras's `(state, data)` on JAX."""

    @functools.wraps(step)
    def with_batch(self: Model, data: Batch, *rest: object) -> PyTree:
        if rest:
            return step(self, data, *rest)
        with sharing(self):
            return of_rows(self, data)

    return with_batch


def training_step_of_rows(step: Method) -> Method:
    """Wraps `Trainer.train_step`: `train_step(data)` trains on one replica's rows."""
    return _step_of_rows(train_rows, step)


def evaluation_step_of_rows(step: Method) -> Method:
    """Wraps `Trainer.test_step`: `test_step(data)` evaluates one replica's rows."""
    return _step_of_rows(evaluate_rows, step)


def prediction_step_of_rows(step: Method) -> Method:
    """Wraps `Trainer.predict_step`: `predict_step(data)` predicts for one replica's rows."""
    return _step_of_rows(predict_rows, step)


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
    for group, values in zip(variables, state, strict=True):
        _assign(group, values)
    return result
