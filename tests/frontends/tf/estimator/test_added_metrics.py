"""More metrics for an estimator."""

import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import LABELS, batches, numbers


def test_metrics_are_added_to_those_of_the_estimator(tmp_path):
    classifier = tf.estimator.BaselineClassifier(tmp_path)

    def metrics(labels, predictions, features):
        assert set(features) == {"x", "side"}
        return {
            "share": tf.compat.v1.metrics.mean(predictions["class_ids"]),
            "accuracy": _of(labels),
        }

    found = tf.estimator.add_metrics(classifier, metrics).evaluate(batches(epochs=1))
    assert found["share"] == 0
    assert found["accuracy"] == pytest.approx(LABELS.mean())
    assert found["average_loss"] > 0


def _of(labels):
    return tf.compat.v1.metrics.mean(labels)


def test_the_function_takes_what_is_known():
    classifier = tf.estimator.LinearClassifier([numbers()])
    with pytest.raises(ValueError, match=r"not expected args: \['logits'\]"):
        tf.estimator.add_metrics(classifier, lambda labels, logits: {})
