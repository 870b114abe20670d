"""Metrics by the names of `tf.contrib.metrics`."""

import numpy as np
import pytest

from frontends import tf

LABELS = np.array([1, 0, 1, 1, 0, 1])
SCORES = np.array([0.9, 0.8, 0.7, 0.2, 0.1, 0.6], np.float32)


def test_f1_is_that_of_the_best_threshold():
    def at(threshold):
        found = threshold < SCORES
        return 2 * (found & (LABELS == 1)).sum() / (found.sum() + LABELS.sum())

    value, update = tf.contrib.metrics.f1_score(LABELS, SCORES)
    expected = max(at(threshold) for threshold in (0, 0.15, 0.5, 0.75, 0.85))
    assert float(value) == float(update) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["accuracy", "precision", "recall", "mean_squared_error"])
def test_predictions_come_first(name):
    classes = (SCORES > 0.65).astype(int)
    first = getattr(tf.contrib.metrics, f"streaming_{name}")(classes, LABELS)
    second = getattr(tf.compat.v1.metrics, name)(LABELS, classes)
    assert [float(one) for one in first] == [float(one) for one in second]


def test_accuracy_of_a_batch_is_weighted():
    found = tf.contrib.metrics.accuracy([1, 0, 1], [1, 1, 0], [2.0, 1.0, 1.0])
    assert float(found) == 0.5
