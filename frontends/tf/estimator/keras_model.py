"""`tf.keras.estimator.model_to_estimator`: an estimator that trains a compiled model of Keras."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from frontends.tf import nest
from frontends.tf.aggregation import VariableAggregation
from frontends.tf.compat.v1.losses import Reduction, compute_weighted_loss
from frontends.tf.compat.v1.slots import write
from frontends.tf.compat.v1.train.steps import get_or_create_global_step
from frontends.tf.compat.v1.variable_scopes import VariableScope, get_variable, variable_scope
from frontends.tf.estimator.canned.optimizers import optimizer_of
from frontends.tf.estimator.canned.optimizers.keras_like import KerasLikeOptimizer
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.estimator_spec import EstimatorSpec
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.estimator.run_config import RunConfig
from frontends.tf.graph import default_graph
from frontends.tf.ops.control_flow import group
from frontends.tf.ops.convert import convert_to_tensor
from spmd.replica import all_reduce, in_replica, outside_of_steps
from spmd.typing import StrPath

_ACCURACIES = ("accuracy", "acc")


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: StrPath | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: StrPath | None = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = None,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, Any] | None = None,
) -> Estimator:
    """Makes an estimator that starts at a model's weights, and trains with its loss, metrics and optimizer.

    The model itself stays as it is. Features are by the names of its inputs; a model of one input takes a feature of any name.
    Labels of several outputs are by the names of the outputs, which predictions have, too.

    What differs here: checkpoints hold variables by their paths (`dense/kernel`), in both formats.

    Args:
        keras_model: compiled and built: it has weights.
        keras_model_path: instead, the path of a model that was saved.
        custom_objects: classes of that file that are not Keras's, by name.
        model_dir: see `tf.estimator.Estimator`.
        config: see `tf.estimator.Estimator`.
        checkpoint_format: "checkpoint" or "saver".
        metric_names_map: names of metrics in evaluations, by those that they have.
        export_outputs: classes of `tf.estimator.export`, by the name of the output that each is given.

    Raises:
        ValueError: there is not one of a model and a path, the model is not compiled or has no weights, or the format is another.

    Source: `tf.keras.estimator.model_to_estimator`.
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError(
            "Give model_to_estimator either keras_model or keras_model_path, and not both."
        )
    if checkpoint_format not in (None, "checkpoint", "saver"):
        raise ValueError(
            f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}'
        )
    if keras_model is None:
        keras_model = keras.models.load_model(keras_model_path, custom_objects)
    if getattr(keras_model, "optimizer", None) is None or keras_model.loss is None:
        raise ValueError(
            "The given keras model has not been compiled yet. Call model.compile(optimizer, loss) before."
        )
    if not keras_model.built and _begins_with_embedding(keras_model):
        keras_model.build((None, None))  # as Keras 2 did of input_length
    if not keras_model.built:
        raise ValueError(
            "The given keras model has no weights yet. Let it begin with tf.keras.Input, or call it on a batch before."
        )
    model = _Model(keras_model, dict(metric_names_map or {}), dict(export_outputs or {}))
    return Estimator(model.model_fn, model_dir, config)


def _begins_with_embedding(model: Any) -> bool:
    layers = getattr(model, "layers", ())
    is_sequential = isinstance(model, keras.Sequential)
    return is_sequential and bool(layers) and isinstance(layers[0], keras.layers.Embedding)


class _Model:
    """A model function of a model of Keras."""

    def __init__(
        self, model: Any, names: dict[str, str], export_outputs: dict[str, Callable[..., Any]]
    ) -> None:
        self._model, self._names, self._export_outputs = model, names, export_outputs
        self._values = {one.path: np.asarray(one) for one in model.variables}
        self._optimizer = functools.partial(optimizer_of, model.optimizer)
        compiled = model.get_compile_config()
        self._given_metrics, self._loss_weights = (
            compiled.get("metrics"),
            compiled.get("loss_weights"),
        )
        outputs = getattr(model, "output_names", None)
        self._outputs: list[str] = list(outputs) if outputs else [model.layers[-1].name]

    def model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """Runs the model in a mode."""
        weights = None
        if isinstance(features, Mapping) and set(features) == {"features", "sample_weights"}:
            features, weights = features["features"], convert_to_tensor(features["sample_weights"])
        trained = [self._variable(one) for one in self._model.trainable_variables]
        others = [self._variable(one) for one in self._model.non_trainable_variables]
        values = [[one.value() for one in some] for some in (trained, others)]
        # The model's own variables are not read: the values stand for them.
        with outside_of_steps():
            outputs, after, penalties = self._model.stateless_call(
                *values,
                self._inputs(features),
                training=mode == ModeKeys.TRAIN,
                return_losses=True,
            )
        found = self._by_name(outputs, self._outputs, "outputs")
        if mode == ModeKeys.PREDICT:
            exports = None
            if self._export_outputs:
                exports = {key: made(found[key]) for key, made in self._export_outputs.items()}
            return EstimatorSpec(mode, predictions=found, export_outputs=exports)
        targets = self._by_name(labels, self._outputs, "labels")
        loss = self._loss(targets, found, weights)
        loss = sum((jnp.sum(one) for one in penalties), loss)
        if mode == ModeKeys.EVAL:
            metrics = self._updated_metrics(targets, found, weights)
            return EstimatorSpec(mode, predictions=found, loss=loss, eval_metric_ops=metrics)
        optimizer, step = self._optimizer(), get_or_create_global_step()
        if isinstance(optimizer, KerasLikeOptimizer):
            optimizer.iterations, step = step, None
        train_op = optimizer.minimize(loss, step, trained)
        update = default_graph().operation("update_state", lambda: _update(others, after))
        return EstimatorSpec(mode, predictions=found, loss=loss, train_op=group(train_op, update))

    def _variable(self, weight: Any) -> Any:
        value = self._values[weight.path]
        with variable_scope(VariableScope()):  # the top: the path is whole
            return get_variable(
                weight.path.removeprefix(f"{self._model.name}/"),
                value.shape,
                value.dtype,
                initializer=lambda shape, dtype: jnp.asarray(value, dtype),
                trainable=weight.trainable,
                aggregation=VariableAggregation.NONE
                if weight.trainable
                else VariableAggregation.ONLY_FIRST_REPLICA,
            )

    def _inputs(self, features: Any) -> Any:
        names = [one.name for one in self._model.inputs]
        if not isinstance(features, Mapping):
            return convert_to_tensor(features)
        if len(names) == len(features) == 1:
            return convert_to_tensor(next(iter(features.values())))
        missing = [name for name in names if name not in features]
        if missing:
            raise KeyError(
                f"The features {list(features)} lack inputs of the model: {missing}. Return them from input_fn by these names, or "
                "name the inputs: tf.keras.Input(shape, name=key)."
            )
        return nest.map_structure(
            lambda one: convert_to_tensor(features[one.name]), self._model.input
        )

    def _by_name(self, values: Any, names: Sequence[str], what: str) -> dict[str, Any]:
        if isinstance(values, Mapping):
            missing = [name for name in names if name not in values]
            if missing and len(values) == len(names) == 1:
                return {names[0]: convert_to_tensor(next(iter(values.values())))}
            if missing:
                raise KeyError(f"The {what} {list(values)} lack {missing}: the model's outputs.")
            return {name: convert_to_tensor(values[name]) for name in names}
        some = list(values) if isinstance(values, (list, tuple)) else [values]
        return dict(zip(names, map(convert_to_tensor, some), strict=True))

    def _loss(
        self, labels: Mapping[str, Any], outputs: Mapping[str, Any], weights: Any
    ) -> jax.Array:
        losses = self._each(self._model.loss)
        factors = self._each(1.0 if self._loss_weights is None else self._loss_weights)
        found = jnp.zeros(())
        for name, loss in losses.items():
            target, output = _fitted(labels[name], outputs[name])
            function: Any = keras.losses.get(loss) if isinstance(loss, str) else loss
            with outside_of_steps():
                call = getattr(function, "call", function)
                of_rows = jnp.asarray(call(target, output))
            of_rows = of_rows.reshape(len(of_rows), -1).mean(-1)
            weight = 1.0 if weights is None else jnp.ravel(weights)
            own = compute_weighted_loss(of_rows, weight, reduction=Reduction.SUM_OVER_BATCH_SIZE)
            found = found + factors[name] * own
        return found

    def _each(self, given: Any) -> dict[str, Any]:
        """Returns what belongs to each output of what was given for all, or by list or name."""
        if isinstance(given, Mapping) and "class_name" not in given:
            return {name: given[name] for name in self._outputs if given.get(name) is not None}
        if isinstance(given, (list, tuple)):
            pairs = zip(self._outputs, given, strict=True)
            return {name: one for name, one in pairs if one is not None}
        return dict.fromkeys(self._outputs, given)

    def _updated_metrics(
        self, labels: Mapping[str, Any], outputs: Mapping[str, Any], weights: Any
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        is_one = len(self._outputs) == 1
        del weights  # they are for losses
        for name, some in self._metrics_of_outputs().items():
            for one in some if isinstance(some, (list, tuple)) else [some]:
                target, output = _fitted(labels[name], outputs[name])
                key, metric = _metric(one, target, output)
                with outside_of_steps():
                    metric.update_state(target, output)
                key = key if is_one else f"{name}_{key}"
                found[self._names.get(key, key)] = metric
        return found

    def _metrics_of_outputs(self) -> Mapping[str, Any]:
        given = self._given_metrics or []
        if isinstance(given, Mapping):
            return given
        are_lists = any(isinstance(one, (list, tuple)) for one in given)
        if are_lists and len(self._outputs) > 1:
            return dict(zip(self._outputs, given, strict=True))
        return dict.fromkeys(self._outputs, given)


def _fitted(labels: Any, outputs: Any) -> tuple[Any, Any]:
    """Gives labels the last axis of outputs of size 1."""
    if labels.ndim == outputs.ndim - 1 and outputs.shape[-1] == 1:
        labels = labels[..., None]
    return labels, outputs


def _metric(given: Any, labels: Any, outputs: Any) -> tuple[str, Any]:
    """Makes a metric of what `compile` was given, and names it as Keras does."""
    if given in _ACCURACIES:
        if outputs.shape[-1] == 1:
            return given, keras.metrics.BinaryAccuracy(name=given)
        if labels.ndim < outputs.ndim or labels.shape[-1] == 1:
            return given, keras.metrics.SparseCategoricalAccuracy(name=given)
        return given, keras.metrics.CategoricalAccuracy(name=given)
    metric = keras.metrics.get(given)
    if not isinstance(metric, keras.metrics.Metric):
        metric = keras.metrics.MeanMetricWrapper(
            metric, name=str(getattr(metric, "__name__", given))
        )
    return given if isinstance(given, str) else metric.name, metric


def _update(variables: Sequence[Any], values: Sequence[Any]) -> None:
    """Gives state that is not trained its new values: the means of the replicas' averages."""
    for variable, value in zip(variables, values, strict=True):
        if in_replica() and jnp.issubdtype(value.dtype, jnp.inexact):
            value = all_reduce(value, "mean")
        write(variable, value)
