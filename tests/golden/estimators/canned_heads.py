"""Heads of `tf.estimator` in model functions, on a layer that starts at given weights."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.estimators.base import config, folder, input_fn, recorded, run, wave, waves
from tests.golden.scenarios.base import Case, Setting

COUNT = 24
_X = wave([COUNT, 3], 0.2, 1.0)
_WORDS = ["no", "yes"]
_COLORS = ["red", "green", "blue"]


def features() -> dict[str, Any]:
    return {"x": _X, "weight": (np.arange(COUNT) % 3 / 2.0 + 0.5).astype(np.float32)}


def labels(kind: str) -> Any:
    """Labels of a kind."""
    index = np.arange(COUNT)
    return {
        "binary": (_X[:, 0] > 0).astype(np.int64),
        "words": np.array([_WORDS[int(x > 0)] for x in _X[:, 0]]),
        "classes": (index * 2 % 3).astype(np.int64),
        "colors": np.array([_COLORS[i * 2 % 3] for i in index]),
        "several": np.stack([index % 2, index % 3 == 0, index % 5 > 2], 1).astype(np.int64),
        "counts": (index % 4).astype(np.float32),
        "shares": (index % 5 / 4.0).astype(np.float32),
        "pairs": np.stack([_X[:, 0] * 2, _X[:, 1] - 1], 1).astype(np.float32),
    }[kind]


def heads(tf: Any) -> dict[str, tuple[Callable[[], Any], str]]:
    """What makes each head, and the kind of its labels."""
    e = tf.estimator

    def hinge(labels: Any, logits: Any) -> Any:
        return tf.nn.relu(1.0 - (2.0 * tf.cast(labels, tf.float32) - 1.0) * logits)

    return {
        "binary": (lambda: e.BinaryClassHead(), "binary"),
        "binary_options": (
            lambda: e.BinaryClassHead(
                "weight",
                thresholds=[0.3, 0.6],
                label_vocabulary=_WORDS,
                loss_reduction=tf.keras.losses.Reduction.SUM,
                name="task",
            ),
            "words",
        ),
        "binary_hinge": (lambda: e.BinaryClassHead(loss_fn=hinge), "binary"),
        "multi_class": (lambda: e.MultiClassHead(3), "classes"),
        "multi_class_options": (
            lambda: e.MultiClassHead(3, "weight", label_vocabulary=_COLORS, name="color"),
            "colors",
        ),
        "multi_label": (lambda: e.MultiLabelHead(3), "several"),
        "multi_label_options": (
            lambda: e.MultiLabelHead(
                3, "weight", thresholds=[0.5], classes_for_class_based_metrics=[0, 2], name="tags"
            ),
            "several",
        ),
        "regression": (lambda: e.RegressionHead(2), "pairs"),
        "regression_options": (
            lambda: e.RegressionHead(2, "weight", inverse_link_fn=tf.math.tanh, name="pair"),
            "pairs",
        ),
        "poisson": (lambda: e.PoissonRegressionHead(), "counts"),
        "poisson_short": (lambda: e.PoissonRegressionHead(compute_full_loss=False), "counts"),
        "logistic": (lambda: e.LogisticRegressionHead(), "shares"),
    }


def estimator(tf: Any, head: Any) -> Any:
    """An estimator of a layer and a head, with a penalty."""
    v1 = tf.compat.v1

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        logits = v1.layers.dense(
            features["x"],
            head.logits_dimension,
            kernel_initializer=waves(tf),
            name="layer",
        )
        penalty = 0.01 * tf.reduce_sum(tf.square(v1.trainable_variables()[0]))
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        return head.create_estimator_spec(
            features,
            mode,
            logits,
            labels,
            train_op_fn=lambda loss: optimizer.minimize(loss, v1.train.get_global_step()),
            regularization_losses=[penalty],
        )

    return tf.estimator.Estimator(model_fn, folder(), config(tf))


@recorded("canned.heads", "canned_heads")
def heads_of_a_layer(s: Setting) -> Iterator[Case]:
    for name, (make, kind) in heads(s.tf).items():
        x, y = features(), labels(kind)
        yield from run(
            lambda make=make: estimator(s.tf, make()),
            input_fn(s.tf, x, y),
            input_fn(s.tf, x, y, batch=9, repeat=False),
            input_fn(s.tf, x, repeat=False),
            steps=4,
            prefix=f"sgd/{name}/",
        )


@recorded("canned.multi_head", "canned_heads")
def several_heads(s: Setting) -> Iterator[Case]:
    e = s.tf.estimator
    y = {"click": labels("binary"), "pair": labels("pairs")}
    for name, weights in (("equal", None), ("weighted", [2.0, 0.5])):

        def make(weights: Any = weights) -> Any:
            head = e.MultiHead(
                [e.BinaryClassHead(name="click"), e.RegressionHead(2, name="pair")], weights
            )
            return estimator(s.tf, head)

        yield from run(
            make,
            input_fn(s.tf, features(), y),
            input_fn(s.tf, features(), y, batch=9, repeat=False),
            input_fn(s.tf, features(), repeat=False),
            steps=4,
            prefix=f"sgd/{name}/",
        )
