"""Training by `optimize_loss`."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

optimize_loss = tf.contrib.layers.optimize_loss


def trained(folder, **options):
    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(weight * [3.0, 4.0])
        train_op = optimize_loss(loss, None, **options)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn, str(folder))
    rows = np.ones(2, np.float32)
    return estimator.train(lambda: tf.data.Dataset.from_tensor_slices(rows).batch(1))


def test_a_decaying_rate_and_clipped_gradients(tmp_path):
    estimator = trained(
        tmp_path,
        learning_rate=1.0,
        optimizer="Momentum",
        clip_gradients=2.5,
        gradient_multipliers={"w": 0.5},
        learning_rate_decay_fn=lambda rate, step: rate / tf.cast(step + 1, tf.float32),
        summaries=["loss", "learning_rate", "gradients", "gradient_norm", "global_gradient_norm"],
    )
    # Gradients are (1.5, 2); momentum is 1.9 of them at the second step, and the rate 1/2.
    np.testing.assert_allclose(estimator.get_variable_value("w"), [-2.925, -3.9], rtol=1e-6)
    assert estimator.get_variable_names() == [
        *("OptimizeLoss/learning_rate", "OptimizeLoss/w/Momentum", "global_step", "w")
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "Adamax"}, "Optimizer name should be one of"),
        ({"optimizer": 3}, "Unrecognized optimizer"),
        ({"optimizer": lambda rate: 3}, "should return an optimizer"),
        ({"learning_rate": None}, "must be specified"),
        ({"learning_rate": -1.0}, "Invalid learning_rate"),
        ({"learning_rate": "0.1"}, "0d Tensor or float"),
        ({"clip_gradients": "1"}, "Unknown type"),
        ({"clip_gradients": 1.0, "variables": []}, "optimize_loss: No variables to optimize"),
        ({"summaries": ["losses"]}, "Summaries should be one of"),
        ({"learning_rate_decay_fn": lambda rate, step: rate}, "global_step is required"),
    ],
)
def test_what_is_refused(options, message):
    settings = {"loss": 1.0, "global_step": None, "learning_rate": 0.1, "optimizer": "SGD"}
    with Graph().as_default():
        tf.get_variable("w", [])
        with pytest.raises(ValueError, match=message):
            optimize_loss(**settings | options)
