"""Heads under the names that TensorFlow keeps to itself."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.compat.v1 import estimator as head_lib
from frontends.tf.graph import Graph

LOGITS, LABELS = np.float32([[0.5], [-1.0], [2.0]]), np.float32([[1.0], [0.0], [0.0]])


def spec(head, labels=LABELS, logits=LOGITS, mode="train"):
    with Graph().as_default():
        step = tf.compat.v1.train.get_or_create_global_step()
        return head.create_estimator_spec(
            features={},
            mode=mode,
            labels=tf.constant(labels),
            logits=tf.constant(logits),
            train_op_fn=lambda loss: step.assign_add(1),
        )


def test_losses_of_a_batch_are_added_up():
    head = head_lib._binary_logistic_or_multi_class_head(2, None, None, "weighted_sum")
    losses = np.log1p(np.exp(LOGITS)) - LABELS * LOGITS
    assert head.logits_dimension == 1
    assert float(spec(head).loss) == pytest.approx(losses.sum(), rel=1e-6)
    regression = head_lib._regression_head_with_mean_squared_error_loss(None, 1)
    assert float(spec(regression).loss) == pytest.approx(((LOGITS - LABELS) ** 2).sum(), rel=1e-6)
    counts = head_lib._poisson_regression_head(compute_full_loss=False)
    poisson = np.exp(LOGITS) - LABELS * LOGITS
    assert float(spec(counts).loss) == pytest.approx(poisson.sum(), rel=1e-6)


def test_the_mean_of_examples_has_tensorflows_name():
    head, graph = head_lib._binary_logistic_head_with_sigmoid_cross_entropy_loss(), Graph()
    with graph.as_default(), tf.name_scope("linear"):
        tf.compat.v1.train.get_or_create_global_step()
        made = head.create_estimator_spec(
            {}, "train", tf.constant(LOGITS), LABELS, train_op_fn=lambda loss: tf.group()
        )
    average = float(graph.fetchable("linear/head/truediv:0"))
    assert average == pytest.approx(float(made.loss) / 3, rel=1e-6)


def test_more_than_two_classes():
    head = head_lib._binary_logistic_or_multi_class_head(3, None, None, "weighted_sum")
    logits = np.float32([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]])
    found = float(spec(head, np.int32([[2], [0]]), logits).loss)
    expected = np.log(np.exp(logits).sum(1)) - logits[[0, 1], [2, 0]]
    assert head.logits_dimension == 3
    assert found == pytest.approx(expected.sum(), rel=1e-6)
