"""The head of two classes."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.canned.heads import BinaryClassHead

LOGITS = jnp.array([[2.0], [-1.0]])


def test_the_loss_is_the_mean_cross_entropy():
    expected = np.mean([np.log1p(np.exp(-2.0)), np.log1p(np.exp(1.0))])
    np.testing.assert_allclose(BinaryClassHead().loss([1, 1], LOGITS), expected, rtol=1e-6)
    of_sum = BinaryClassHead(loss_reduction=tf.losses.Reduction.SUM)
    np.testing.assert_allclose(of_sum.loss([1, 1], LOGITS), 2 * expected, rtol=1e-6)


def test_predictions_have_tensorflows_names():
    found = BinaryClassHead(label_vocabulary=["no", "yes"]).predictions(LOGITS)
    assert list(found) == [
        *("logits", "logistic", "probabilities", "class_ids", "classes", "all_class_ids"),
        "all_classes",
    ]
    assert found["class_ids"].tolist() == [[1], [0]]
    assert np.asarray(found["classes"]).tolist() == [[b"yes"], [b"no"]]
    np.testing.assert_allclose(found["probabilities"][:, 1:], found["logistic"], rtol=1e-6)
    assert list(BinaryClassHead().predictions(LOGITS, ["logits"])) == ["logits"]
    with pytest.raises(ValueError, match="Prediction key must be in PredictionKeys"):
        BinaryClassHead().predictions(LOGITS, ["logit"])


def test_metrics_are_those_of_the_batch():
    head = BinaryClassHead(thresholds=[0.9], name="a")
    found = head.update_metrics(head.metrics(), {}, LOGITS, jnp.array([1, 1]))
    values = {key: float(one.result()) for key, one in found.items()}
    assert values["accuracy/a"] == values["recall/a"] == 0.5
    assert values["label/mean/a"] == values["precision/a"] == values["accuracy_baseline/a"] == 1
    assert values["accuracy/positive_threshold_0.9/a"] == 0


def test_labels_and_thresholds_are_checked():
    with pytest.raises(ValueError, match=r"Labels must be <= 2 - 1"):
        BinaryClassHead().loss([2, 0], LOGITS)
    with pytest.raises(ValueError, match=r"thresholds not in \(0, 1\)"):
        BinaryClassHead(thresholds=[1.0])
    with pytest.raises(ValueError, match="label_vocabulary should be a list"):
        BinaryClassHead(label_vocabulary="ab")
