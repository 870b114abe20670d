"""Metrics of heads, made before their batch."""

import jax.numpy as jnp
import pytest

from frontends import tf
from frontends.tf.estimator.canned.heads import metrics


def test_a_metric_is_a_pair_once_it_has_a_batch():
    metric = metrics.mean("average_loss")
    with pytest.raises(ValueError, match="has no batch yet"):
        metric.result()
    assert float(metric.update_state(jnp.array([1.0, 3.0]), jnp.array([1.0, 0.0]))) == 1.0
    value, update = metric
    assert float(value) == float(update) == float(metric.result()) == 1.0


def test_weights_are_of_rows():
    metric = metrics.of_pair(tf.compat.v1.metrics.accuracy, "accuracy")
    metric.update_state(jnp.array([[1.0], [0.0]]), jnp.array([[1], [1]]), jnp.array([[3.0], [1.0]]))
    assert float(metric.result()) == 0.75


def test_the_baseline_predicts_the_more_frequent_label():
    metric = metrics.baseline("accuracy_baseline")
    metric.update_state(jnp.array([[0.0], [0.0], [1.0], [0.0]]), 1.0)
    assert float(metric.result()) == 0.75


def test_penalties_are_added_up():
    assert metrics.total(None) is None
    assert float(metrics.total([jnp.float32(1), jnp.float32(2)])) == 3
