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


def test_classes_among_the_first():
    scores = np.float32([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]])
    labels = np.array([2, 0, 1])
    for k, share in ((1, 1 / 3), (2, 1.0)):
        value, _ = tf.contrib.metrics.streaming_recall_at_k(scores, labels, k, [1.0, 1.0, 1.0])
        assert float(value) == pytest.approx(share)
    sparse, _ = tf.contrib.metrics.streaming_sparse_recall_at_k(scores, labels[:, None], 2)
    assert float(sparse) == pytest.approx(2 / 3)


def test_a_confusion_matrix_takes_the_dtype_before_weights():
    found = tf.contrib.metrics.confusion_matrix([0, 1], [1, 1], 2, "float32", weights=[0.5, 2.0])
    assert found.tolist() == [[0.0, 0.5], [0.0, 2.0]]
    assert found.dtype == "float32"


def test_metrics_are_listed_and_named():
    one, two = ("value", "update"), ("other", "its update")
    metrics = tf.contrib.metrics
    assert metrics.aggregate_metrics(one, two) == (["value", "other"], ["update", "its update"])
    values, updates = metrics.aggregate_metric_map({"a": one, "b": two})
    assert values == {"a": "value", "b": "other"}
    assert updates == {"a": "update", "b": "its update"}
    with pytest.raises(ValueError, match="at least one"):
        metrics.aggregate_metrics()
