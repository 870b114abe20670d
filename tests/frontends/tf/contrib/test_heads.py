"""Heads of `tf.contrib.estimator`."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.compat import v1
from frontends.tf.contrib import estimator as heads
from frontends.tf.graph import Graph

ONE_HOT = np.float32([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])


@pytest.mark.parametrize(
    ("head", "labels", "expected"),
    [
        (heads.binary_classification_head(), np.float32([[1.0], [0.0]]), np.log(2)),
        (heads.logistic_regression_head(), np.float32([[1.0], [0.0]]), np.log(2)),
        (heads.multi_class_head(3), np.int32([[1], [2]]), np.log(3)),
        (heads.multi_label_head(3), ONE_HOT, np.log(2)),
        (heads.poisson_regression_head(compute_full_loss=False), np.float32([[1.0], [0.0]]), 1.0),
        # Its parameters are in another order in tf.estimator.
        (heads.regression_head(None, 2), np.float32([[1.0, 2.0], [0.0, 1.0]]), 1.5),
        (heads.multi_head([heads.regression_head(name="a")], [0.5]), {"a": ONE_HOT[:, :1]}, 0.25),
    ],
)
def test_losses_are_means_and_the_optimizer_finds_the_variables(head, labels, expected):
    with Graph().as_default():
        weight = v1.get_variable(
            "weight", [head.logits_dimension], initializer=tf.zeros_initializer()
        )
        v1.train.get_or_create_global_step()
        logits = tf.zeros([2, head.logits_dimension]) + weight
        spec = head.create_estimator_spec(
            features={},
            mode="eval",
            labels=labels,
            logits={"a": logits} if isinstance(labels, dict) else logits,
        )
    assert float(spec.loss) == pytest.approx(expected, rel=1e-6)


def test_updates_run_with_the_training(tmp_path):
    def model_fn(features, mode):
        logits = v1.layers.batch_normalization(v1.layers.dense(features, 1), training=True)
        return heads.binary_classification_head().create_estimator_spec(
            features, mode, logits, tf.ones([2, 1]), v1.train.GradientDescentOptimizer(0.1)
        )

    estimator = tf.estimator.Estimator(model_fn, tmp_path)
    estimator.train(lambda: tf.data.Dataset.from_tensors(np.float32([[1.0], [3.0]])), steps=1)
    assert estimator.get_variable_value("global_step") == 1
    assert estimator.get_variable_value("batch_normalization/moving_variance") != 1
