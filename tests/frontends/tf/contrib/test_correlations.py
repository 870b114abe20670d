"""Covariance and correlation, against NumPy's."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph, VariableStore

LABELS = np.float32([1.0, 2.0, 4.0, 3.0, 0.5])
PREDICTIONS = np.float32([0.8, 2.5, 3.0, 3.5, 1.0])
metrics = tf.contrib.metrics


def test_against_numpy():
    covariance, update = metrics.streaming_covariance(PREDICTIONS, LABELS)
    assert float(covariance) == float(update) == pytest.approx(np.cov(PREDICTIONS, LABELS)[0, 1])
    correlation, _ = metrics.streaming_pearson_correlation(PREDICTIONS, LABELS)
    assert float(correlation) == pytest.approx(np.corrcoef(PREDICTIONS, LABELS)[0, 1])


def test_weights_say_how_often_an_entry_counts():
    weights = np.float32([1, 0, 2, 1, 3])
    often = np.repeat(np.arange(5), weights.astype(int))
    correlation, _ = metrics.streaming_pearson_correlation(PREDICTIONS, LABELS, weights)
    expected = np.corrcoef(PREDICTIONS[often], LABELS[often])[0, 1]
    assert float(correlation) == pytest.approx(expected)


def test_batches_add_up():
    store = VariableStore()
    for part in (slice(0, 2), slice(2, 5)):
        with Graph(store).as_default() as graph:
            value, update = metrics.streaming_pearson_correlation(PREDICTIONS[part], LABELS[part])
            graph.run(update)
    expected = np.corrcoef(PREDICTIONS, LABELS)[0, 1]
    assert float(graph.value_of(value)) == pytest.approx(expected)
    assert "pearson_r/count" in store.variables


def test_what_does_not_vary_has_no_correlation():
    assert np.isnan(metrics.streaming_pearson_correlation(np.ones(3), LABELS[:3])[0])
    assert np.isnan(metrics.streaming_covariance([1.0], [2.0])[0])


def test_shapes_must_be_the_same():
    with pytest.raises(ValueError, match=r"one shape, got \(5,\) and \(2,\)"):
        metrics.streaming_covariance(PREDICTIONS, LABELS[:2])
