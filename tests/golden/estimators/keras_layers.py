"""Model functions that make layers and models of Keras: TensorFlow's tutorial, batch normalization, penalties, scopes."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.estimators.base import config, folder, input_fn, recorded, run, wave, waves
from tests.golden.estimators.custom import BOTH, strategies
from tests.golden.scenarios.base import Case, Setting

GROUP = "custom"
_BATCH = 8


def _digits(tf: Any) -> Callable[..., Any]:
    """The model function of TensorFlow's tutorial on several workers, with weights that both start from."""
    v1, layers = tf.compat.v1, tf.keras.layers

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        model = tf.keras.Sequential(
            [
                layers.Conv2D(
                    4, 3, activation="relu", input_shape=(8, 8, 1), kernel_initializer=waves(tf)
                ),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(6, activation="relu", kernel_initializer=waves(tf, 0.1, 0.2)),
                layers.Dense(3, kernel_initializer=waves(tf, 0.2)),
            ]
        )
        logits = model(features, training=False)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
        optimizer = v1.train.GradientDescentOptimizer(learning_rate=0.1)
        loss = tf.keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction=tf.keras.losses.Reduction.NONE
        )(labels, logits)
        loss = tf.reduce_sum(loss) * (1.0 / _BATCH)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss)
        train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def _normalized(tf: Any, *, updates: bool) -> Callable[..., Any]:
    """Layers in scopes, then a model that makes its variables when it is called; updates run if they are asked for."""
    v1, layers = tf.compat.v1, tf.keras.layers

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        training = mode == tf.estimator.ModeKeys.TRAIN
        with v1.variable_scope("outer"):
            hidden = layers.Dense(
                4, "relu", name="mine", kernel_initializer=waves(tf), bias_initializer="ones"
            )(features)
        with tf.name_scope("inner"):
            hidden = layers.Dense(4, use_bias=False, kernel_initializer=waves(tf, 0.1))(hidden)
        first = layers.BatchNormalization(momentum=0.9)
        hidden = tf.nn.relu(first(hidden, training=training))
        model = tf.keras.Sequential(
            [
                layers.Dense(
                    3, use_bias=False, kernel_regularizer="l2", kernel_initializer=waves(tf, 0.7)
                ),
                layers.BatchNormalization(momentum=0.8),
                layers.Dense(1, kernel_initializer=waves(tf)),
            ]
        )
        y = model(hidden, training=training)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels)) + tf.add_n(model.losses)
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        with tf.control_dependencies([*first.updates, *model.updates] if updates else []):
            train_op = optimizer.minimize(
                loss, v1.train.get_global_step(), var_list=v1.trainable_variables()
            )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


@recorded("estimator.keras_layers", GROUP, BOTH)
def keras_layers(s: Setting) -> Iterator[Case]:
    tf = s.tf
    x, labels = wave([32, 8, 8, 1], 0.2, 1.0), np.arange(32, dtype=np.int32) % 3
    rows, target = wave([32, 3], 0.3, 1.0) + 1, wave([32, 1], 1.0)
    kinds = {
        "tutorial": (_digits(tf), x, labels),
        "updates": (_normalized(tf, updates=True), rows, target),
        "no_updates": (_normalized(tf, updates=False), rows, target),
    }
    for name, (model_fn, features, answers) in kinds.items():

        def make(model_fn: Any = model_fn) -> Any:
            return tf.estimator.Estimator(model_fn, folder(), config(tf, **strategies(s)))

        yield from run(
            make,
            input_fn(tf, features, answers, _BATCH),
            input_fn(tf, features, answers, _BATCH, repeat=False),
            input_fn(tf, features, batch=_BATCH, repeat=False),
            prefix=f"{name}/",
        )
