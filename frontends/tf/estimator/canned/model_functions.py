"""The model functions of canned estimators: a head, and one or two models, each with its optimizer."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from frontends.tf.compat.v1.assigning import assign_add
from frontends.tf.compat.v1.collections import GraphKeys, get_collection
from frontends.tf.compat.v1.train.optimizer import Optimizer
from frontends.tf.compat.v1.train.steps import get_or_create_global_step
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.estimator.canned.heads import Head
from frontends.tf.estimator.canned.models import Model, summarize
from frontends.tf.estimator.canned.optimizers import optimizer_of, optimizer_of_v1
from frontends.tf.estimator.canned.optimizers.keras_like import KerasLikeOptimizer
from frontends.tf.estimator.estimator_spec import EstimatorSpec
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.ops.control_flow import control_dependencies, group

ModelFn = Callable[[Any, Any, str, Any], EstimatorSpec]
# TensorFlow 1's canned estimators divide variables among parameter servers, which the names of slots show.
_PARTITIONER = object()


@dataclasses.dataclass(frozen=True)
class Part:
    """A model and how it is trained.

    Attributes:
        model: computes logits.
        optimizer: as an estimator is given it.
        learning_rate: of an optimizer that is named; None for the default of its class.
    """

    model: Model
    optimizer: Any
    learning_rate: float | None

    def optimizer_v1(self) -> Optimizer:
        """Makes an optimizer of TensorFlow 1."""
        return optimizer_of_v1(self.optimizer, self.learning_rate or 0.0)

    def optimizer_v2(self) -> Optimizer:
        """Makes one that trains as those of Keras."""
        return optimizer_of(self.optimizer, self.learning_rate)


def model_fn_v1(head: Head, part: Part) -> ModelFn:
    """Makes the model function of an estimator of TensorFlow 1 that has one model."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        del config
        _check_features(features)
        optimizer = part.optimizer_v1()
        with variable_scope(part.model.scope, partitioner=_PARTITIONER):
            logits = part.model.logits(features, head.logits_dimension, mode)
            return head.create_estimator_spec(features, mode, logits, labels, optimizer)

    return model_fn


def model_fn_v2(head: Head, part: Part) -> ModelFn:
    """Makes the model function of an estimator of TensorFlow 2 that has one model."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        del config
        _check_features(features)
        with variable_scope(part.model.scope):
            logits = part.model.logits(features, head.logits_dimension, mode)
        return head.create_estimator_spec(
            features,
            mode,
            logits,
            labels,
            optimizer=part.optimizer_v2() if mode == ModeKeys.TRAIN else None,
            trainable_variables=_trained(part.model),
            update_ops=get_collection(GraphKeys.UPDATE_OPS),
        )

    return model_fn


def combined_model_fn(
    head: Head, network: Part | None, linear: Part | None, *, is_v1: bool
) -> ModelFn:
    """Makes the model function of an estimator that adds up the logits of a network and of a linear model.

    Args:
        head: of the task.
        network: None if there is none.
        linear: likewise.
        is_v1: whether it is of TensorFlow 1.
    """
    parts = [part for part in (network, linear) if part is not None]

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        del config
        _check_features(features)
        found: list[jax.Array] = []
        for part in parts:
            with variable_scope(part.model.scope, partitioner=_PARTITIONER if is_v1 else None):
                found.append(part.model.logits(features, head.logits_dimension, mode))
        if linear is not None and mode == ModeKeys.TRAIN:
            summarize(found[-1], linear.model.scope)

        def train(loss: jax.Array) -> Any:
            return _train_v1(parts, loss) if is_v1 else _train_v2(parts, loss)

        return head.create_estimator_spec(
            features,
            mode,
            sum(found[1:], found[0]),
            labels,
            train_op_fn=train,
            update_ops=None if is_v1 else get_collection(GraphKeys.UPDATE_OPS),
        )

    return model_fn


def _train_v1(parts: Sequence[Part], loss: jax.Array) -> Any:
    """Trains each model, and counts the step then."""
    trained = [part.optimizer_v1().minimize(loss, var_list=_trained(part.model)) for part in parts]
    with control_dependencies(trained):
        return assign_add(get_or_create_global_step(), 1)


def _train_v2(parts: Sequence[Part], loss: jax.Array) -> Any:
    """Trains each model; the first one's optimizer counts the step."""
    trained, step = [], get_or_create_global_step()
    for part in parts:
        optimizer = part.optimizer_v2()
        if isinstance(optimizer, KerasLikeOptimizer):
            optimizer.iterations, step = step, None
        trained.append(optimizer.minimize(loss, step, _trained(part.model)))
        step = None
    return group(*trained)


def baseline_model_fn(head: Head, part: Part, *, is_v1: bool) -> ModelFn:
    """Makes the model function of an estimator that learns a bias alone.

    Args:
        head: of the task.
        part: the bias.
        is_v1: whether it is of TensorFlow 1.
    """

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        del config
        _check_features(features)
        with variable_scope(part.model.scope):
            logits = part.model.logits(features, head.logits_dimension, mode)

        def train(loss: jax.Array) -> Any:
            return _train_v1([part], loss) if is_v1 else _train_v2([part], loss)

        return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train)

    return model_fn


def _trained(model: Model) -> list[Any]:
    """Lists the variables of a model that optimizers train."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, f"{model.scope}/")


def _check_features(features: Any) -> None:
    if not isinstance(features, Mapping):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}. Have input_fn return them by the "
            "keys of the feature columns."
        )
