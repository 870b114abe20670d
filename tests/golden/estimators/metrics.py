"""What model functions compute with: streaming metrics, losses with their reductions, and layers, by name."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from tests.golden.estimators.base import (
    Log,
    folder,
    input_fn,
    predictions,
    recorded,
    variables,
    wave,
    waves,
)
from tests.golden.scenarios.base import Case, Setting

GROUP = "names"


def _trained(tf: Any, model: Callable[[Any, Any], dict[str, Any]], features: Any) -> Any:
    """Trains an estimator for a step; the model's function gives its predictions or its metrics, as the mode asks."""
    v1 = tf.compat.v1

    def model_fn(features: Any, mode: str) -> Any:
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=model(features, mode))
        found = model(features, mode)
        loss = v1.get_variable("unused", [], initializer=v1.zeros_initializer()) * 1.0
        return tf.estimator.EstimatorSpec(
            mode,
            loss=loss,
            train_op=v1.assign_add(v1.train.get_global_step(), 1),
            eval_metric_ops=found if mode == tf.estimator.ModeKeys.EVAL else None,
        )

    estimator = tf.estimator.Estimator(model_fn, folder())
    with Log():
        estimator.train(input_fn(tf, features), steps=1)
    return estimator


@recorded("estimator.metrics", GROUP)
def metrics(s: Setting) -> Iterator[Case]:
    tf, m = s.tf, s.tf.compat.v1.metrics
    count = 24
    y = np.arange(count) * 7 % 3 == 0
    probability = wave([count], 0.4, 0.3) + 0.4 + 0.2 * y
    features = {
        "binary": y.astype(np.int32),
        "probability": probability,
        "number": wave([count], 0.0, 2.0),
        "guess": wave([count], 0.2, 2.0),
        "class": (np.arange(count) % 3).astype(np.int64),
        "scores": wave([count, 3], 0.7, 1.0),
        "weight": (np.arange(count) % 4 / 2.0).astype(np.float32),
    }

    def both(name: str, of: Callable[[Any, Any], Any]) -> dict[str, Callable[[Any], Any]]:
        return {
            name: lambda f: of(f, None),
            f"{name}/weighted": lambda f: of(f, f["weight"]),
        }

    def positive(f: Any) -> Any:
        return tf.cast(f["probability"] > 0.5, tf.int32)

    made: dict[str, Callable[[Any], Any]] = {
        **both("mean", lambda f, w: m.mean(f["number"], w)),
        **both("accuracy", lambda f, w: m.accuracy(f["binary"], positive(f), w)),
        **both("auc", lambda f, w: m.auc(f["binary"], f["probability"], w)),
        **both("precision", lambda f, w: m.precision(f["binary"], positive(f), w)),
        **both("recall", lambda f, w: m.recall(f["binary"], positive(f), w)),
        **both("true_positives", lambda f, w: m.true_positives(f["binary"], positive(f), w)),
        **both("false_positives", lambda f, w: m.false_positives(f["binary"], positive(f), w)),
        **both("true_negatives", lambda f, w: m.true_negatives(f["binary"], positive(f), w)),
        **both("false_negatives", lambda f, w: m.false_negatives(f["binary"], positive(f), w)),
        **both("squared", lambda f, w: m.mean_squared_error(f["number"], f["guess"], w)),
        **both("root", lambda f, w: m.root_mean_squared_error(f["number"], f["guess"], w)),
        **both("absolute", lambda f, w: m.mean_absolute_error(f["number"], f["guess"], w)),
        **both("iou", lambda f, w: m.mean_iou(f["class"], tf.argmax(f["scores"], 1), 3, w)),
        **both(
            "per_class",
            lambda f, w: m.mean_per_class_accuracy(f["class"], tf.argmax(f["scores"], 1), 3, w),
        ),
        **both("below", lambda f, w: m.percentage_below(f["number"], 0.5, w)),
        "auc/pr": lambda f: m.auc(
            f["binary"],
            f["probability"],
            curve="PR",
            summation_method="careful_interpolation",
        ),
        "auc/thresholds": lambda f: m.auc(f["binary"], f["probability"], num_thresholds=10),
        "relative": lambda f: m.mean_relative_error(
            f["number"], f["guess"], tf.abs(f["number"]) + 1.0
        ),
        "tensor": lambda f: m.mean_tensor(tf.reduce_sum(f["scores"], axis=0)),
        "at_thresholds/precision": lambda f: m.precision_at_thresholds(
            f["binary"], f["probability"], [0.2, 0.5, 0.8]
        ),
        "at_thresholds/recall": lambda f: m.recall_at_thresholds(
            f["binary"], f["probability"], [0.2, 0.5, 0.8]
        ),
        "at_specificity": lambda f: m.sensitivity_at_specificity(
            f["binary"], f["probability"], 0.7
        ),
        "at_sensitivity": lambda f: m.specificity_at_sensitivity(
            f["binary"], f["probability"], 0.7
        ),
        "recall_at_2": lambda f: m.recall_at_k(f["class"], f["scores"], 2),
        "precision_at_2": lambda f: m.precision_at_k(f["class"], f["scores"], 2),
        "keras_mean": lambda f: _updated(tf.keras.metrics.Mean(), f["number"]),
        "keras_auc": lambda f: _updated(tf.keras.metrics.AUC(), f["binary"], f["probability"]),
    }

    def evaluated(function: Callable[[Any], Any]) -> Any:
        model = lambda f, mode: {"it": function(f)}  # noqa: E731
        with Log():
            return _trained(tf, model, features).evaluate(input_fn(tf, features), steps=3)["it"]

    for name, function in made.items():
        yield name, lambda function=function: evaluated(function)


def _updated(metric: Any, *values: Any) -> Any:
    metric.update_state(*values)
    return metric


@recorded("estimator.losses", GROUP)
def losses(s: Setting) -> Iterator[Case]:
    tf, of = s.tf, s.tf.compat.v1.losses
    count = 8
    features = {
        "number": wave([count, 3], 0.0, 2.0),
        "guess": wave([count, 3], 0.2, 2.0),
        "class": np.arange(count) % 3,
        "binary": np.arange(count * 3).reshape(count, 3) * 7 % 3 % 2,
        "weight": (np.arange(count) % 4 / 2.0).astype(np.float32),
    }
    functions: dict[str, Callable[..., Any]] = {
        "squared": lambda f, w, **r: of.mean_squared_error(f["number"], f["guess"], w, **r),
        "absolute": lambda f, w, **r: of.absolute_difference(f["number"], f["guess"], w, **r),
        "huber": lambda f, w, **r: of.huber_loss(f["number"], f["guess"], w, delta=0.5, **r),
        "log": lambda f, w, **r: of.log_loss(f["binary"], tf.sigmoid(f["guess"]), w, **r),
        "hinge": lambda f, w, **r: of.hinge_loss(f["binary"], f["guess"], w, **r),
        "sigmoid": lambda f, w, **r: of.sigmoid_cross_entropy(f["binary"], f["guess"], w, **r),
        "sigmoid_smooth": lambda f, w, **r: of.sigmoid_cross_entropy(
            f["binary"], f["guess"], w, label_smoothing=0.2, **r
        ),
        "sparse": lambda f, w, **r: of.sparse_softmax_cross_entropy(
            f["class"], f["guess"], w if isinstance(w, float) else w[:, 0], **r
        ),
        "softmax": lambda f, w, **r: of.softmax_cross_entropy(
            tf.one_hot(f["class"], 3), f["guess"], w if isinstance(w, float) else w[:, 0], **r
        ),
        "cosine": lambda f, w, **r: of.cosine_distance(
            tf.nn.l2_normalize(f["number"], 1), tf.nn.l2_normalize(f["guess"], 1), 1, w, **r
        ),
        "pairwise": lambda f, w, **r: of.mean_pairwise_squared_error(f["number"], f["guess"], w),
    }
    reductions = ("SUM", "MEAN", "SUM_OVER_BATCH_SIZE", "SUM_BY_NONZERO_WEIGHTS", "NONE")

    def model(features: Any, mode: str) -> dict[str, Any]:
        weights = {"plain": 1.0, "half": 0.5, "rows": features["weight"][:, None]}
        found = {}
        for name, function in functions.items():
            for kind, weight in weights.items():
                loss = function(features, weight)
                found[f"{name}/{kind}"] = tf.repeat(loss, count)
            for reduction in reductions:
                if name != "pairwise":
                    loss = function(
                        features, weights["rows"], reduction=getattr(of.Reduction, reduction)
                    )
                    loss = loss if reduction == "NONE" else tf.repeat(loss, count)
                    found[f"{name}/{reduction}"] = loss
        return found

    @cache
    def predicted() -> dict[str, Any]:
        with Log():
            estimator = _trained(tf, lambda features, mode: {}, features)
        return _predict(tf, model, features, estimator.model_dir)

    for name in functions:
        for kind in ("plain", "half", "rows", *(reductions if name != "pairwise" else ())):
            yield f"{name}/{kind}", lambda key=f"{name}/{kind}": predicted()[key]


def _predict(tf: Any, model: Any, features: Any, model_dir: str) -> Any:
    def model_fn(features: Any, mode: str) -> Any:
        found = model(features, mode)
        tf.compat.v1.get_variable("unused", [], initializer=tf.compat.v1.zeros_initializer())
        return tf.estimator.EstimatorSpec(mode, predictions=found)

    with Log():
        estimator = tf.estimator.Estimator(model_fn, model_dir)
        return predictions(estimator.predict(input_fn(tf, features, repeat=False)))


@recorded("estimator.layers", GROUP)
def layers(s: Setting) -> Iterator[Case]:
    tf, of = s.tf, s.tf.compat.v1.layers
    features = {
        "row": wave([8, 6], 0.1),
        "line": wave([8, 7, 2], 0.1),
        "image": wave([8, 6, 6, 2], 0.1),
        "volume": wave([8, 4, 4, 4, 2], 0.1),
    }
    functions: dict[str, Callable[[Any], Any]] = {
        "dense": lambda f: of.dense(f["row"], 3),
        "dense_no_bias": lambda f: of.dense(f["row"], 3, tf.nn.relu, use_bias=False),
        "dense_of_line": lambda f: of.dense(f["line"], 3),
        "dense_class": lambda f: of.Dense(3)(f["row"]),
        "dropout": lambda f: of.dropout(f["row"], 0.4),
        "flatten": lambda f: of.flatten(f["image"]),
        "conv1d": lambda f: of.conv1d(f["line"], 3, 3),
        "conv2d": lambda f: of.conv2d(f["image"], 3, [3, 2], activation=tf.nn.relu),
        "conv2d_options": lambda f: of.conv2d(
            f["image"], 3, 3, strides=2, padding="SAME", bias_initializer=waves(tf, 2.0)
        ),
        "conv2d_dilated": lambda f: of.conv2d(f["image"], 2, 2, dilation_rate=2),
        "conv3d": lambda f: of.conv3d(f["volume"], 2, 2, padding="same"),
        "separable_conv2d": lambda f: of.separable_conv2d(f["image"], 3, 3, depth_multiplier=2),
        "conv2d_transpose": lambda f: of.conv2d_transpose(f["image"], 3, 3, strides=2),
        "max_pooling1d": lambda f: of.max_pooling1d(f["line"], 2, 2),
        "max_pooling2d": lambda f: of.max_pooling2d(f["image"], [3, 3], 2, padding="same"),
        "max_pooling3d": lambda f: of.max_pooling3d(f["volume"], 2, 2),
        "average_pooling1d": lambda f: of.average_pooling1d(f["line"], 3, 1, padding="same"),
        "average_pooling2d": lambda f: of.average_pooling2d(f["image"], 2, 2),
        "average_pooling3d": lambda f: of.average_pooling3d(f["volume"], 2, 2),
        "batch_normalization": lambda f: of.batch_normalization(f["image"], training=True),
        "batch_normalization_options": lambda f: of.batch_normalization(
            f["row"], training=True, center=False, epsilon=0.1, name="bn"
        ),
        "batch_normalization_inference": lambda f: of.batch_normalization(f["row"]),
        "channels_first": lambda f: of.flatten(f["image"], data_format="channels_first"),
        "two": lambda f: of.dense(of.dense(f["row"], 2), 2),
        "reused": lambda f: (
            of.dense(f["row"], 2, name="a") + of.dense(f["row"], 2, name="a", reuse=True)
        ),
        "in_scope": lambda f: _in_scope(tf, f["row"]),
    }

    def made(function: Callable[[Any], Any]) -> dict[str, Any]:
        def model(features: Any, mode: str) -> dict[str, Any]:
            with tf.compat.v1.variable_scope("", initializer=waves(tf)):
                return {"it": function(features)} if mode != "eval" else {}

        def trained_model(features: Any, mode: str) -> dict[str, Any]:
            model(features, mode)
            return {}

        estimator = _trained(tf, trained_model, features)
        weights = variables(estimator)
        return {
            "out": _predict(tf, model, features, estimator.model_dir)["it"][:2],
            "shapes": {name: list(weights[name].shape) for name in sorted(weights)},
        }

    for name, function in functions.items():
        yield name, lambda function=function: made(function)


def _in_scope(tf: Any, x: Any) -> Any:
    v1 = tf.compat.v1
    with v1.variable_scope("outer"):
        first = v1.layers.dense(x, 2)
        with v1.variable_scope("inner"):
            second = v1.layers.dense(first, 2)
            last = v1.layers.dense(second, 2, name="last")
    with v1.variable_scope("outer", reuse=v1.AUTO_REUSE):
        return last + v1.layers.dense(x, 2, name="dense")
