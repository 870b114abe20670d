"""The head of classes that do not exclude each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.estimator.canned.heads import MultiLabelHead

LOGITS = jnp.array([[1.0, -1.0], [2.0, 0.5]])
LABELS = jnp.array([[1, 0], [1, 1]])


def test_the_loss_is_the_mean_over_classes():
    expected = np.log1p(np.exp(-np.array([1.0, 1.0, 2.0, 0.5]))).mean()
    np.testing.assert_allclose(MultiLabelHead(2).loss(LABELS, LOGITS), expected, rtol=1e-6)


def test_classes_may_have_metrics_of_their_own():
    head = MultiLabelHead(2, label_vocabulary=["a", "b"], classes_for_class_based_metrics=["b"])
    found = head.update_metrics(head.metrics(), {}, LOGITS, LABELS)
    np.testing.assert_allclose(
        found["probability_mean/b"].result(), jax.nn.sigmoid(LOGITS[:, 1]).mean(), rtol=1e-6
    )
    assert {"auc", "auc/b", "auc_precision_recall/b"} <= found.keys()


def test_predictions_have_tensorflows_names():
    found = MultiLabelHead(2).predictions(LOGITS)
    assert list(found) == ["logits", "probabilities", "classes"]
    assert np.asarray(found["classes"]).tolist() == [[b"0", b"1"]] * 2


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="indicator Tensor"):
        MultiLabelHead(2).loss(LABELS + 1, LOGITS)
    with pytest.raises(ValueError, match="n_classes must be > 1"):
        MultiLabelHead(1)
    with pytest.raises(ValueError, match=r"in range \[0, 1\]. Given: 2"):
        MultiLabelHead(2, classes_for_class_based_metrics=[2])
    with pytest.raises(ValueError, match="label_vocabulary must be provided"):
        MultiLabelHead(2, classes_for_class_based_metrics=["a"])
