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


@recorded("estimator.keras_names", GROUP)
def keras_names(s: Setting) -> Iterator[Case]:
    """What variables are called where layers have the same name, or are called twice."""
    tf = s.tf
    v1, layers = tf.compat.v1, tf.keras.layers

    def names(call: Callable[[Any], Any]) -> list[str]:
        found: list[list[str]] = []

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            call(features)
            found.append(sorted(one.name for one in v1.global_variables()))
            return tf.estimator.EstimatorSpec(mode, predictions={"x": features})

        rows = wave([2, 3])
        estimator = tf.estimator.Estimator(model_fn, folder())
        next(iter(estimator.predict(lambda: tf.data.Dataset.from_tensors(rows))))
        return found[-1]

    def dense(name: str | None = "a") -> Any:
        return layers.Dense(2, name=name)

    def called_twice(x: Any, name: str | None) -> None:
        first = dense(name)
        first(x), first(x), dense(name)(x)

    def scopes(x: Any, scope: Callable[[str], Any]) -> None:
        for _ in range(2):
            with scope("s"):
                dense()(x)

    def in_one_scope(x: Any) -> None:
        with v1.variable_scope("s"):
            dense()(x), dense()(x)

    def functional(x: Any) -> None:
        inputs = tf.keras.Input([3])
        tf.keras.Model(inputs, dense()(inputs))(x)
        dense()(x)

    def models(x: Any) -> None:
        for _ in range(2):
            tf.keras.Sequential([dense()], name="m")(x)
        tf.keras.Sequential([dense()], name="a")(x)

    yield "one_name", lambda: names(lambda x: (dense()(x), dense()(x)))
    yield "called_twice", lambda: names(lambda x: called_twice(x, "a"))
    yield "called_twice_unnamed", lambda: names(lambda x: called_twice(x, None))
    yield "name_scopes", lambda: names(lambda x: scopes(x, tf.name_scope))
    yield "in_one_scope", lambda: names(in_one_scope)
    yield "functional", lambda: names(functional)
    yield "models", lambda: names(models)
