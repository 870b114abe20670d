"""The head of several classes."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.estimator.canned.heads import MultiClassHead
from frontends.tf.feature_column import Texts

LOGITS = jnp.array([[1.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
LOSSES = np.log([(np.e + 2) / np.e, (np.exp(3.0) + 2) / np.exp(3.0)])


def test_the_loss_is_weighted_cross_entropy():
    head = MultiClassHead(3, weight_column="w")
    found = head.loss([0, 2], LOGITS, {"w": jnp.array([1.0, 3.0])})
    np.testing.assert_allclose(found, (LOSSES * [1, 3]).sum() / 2, rtol=1e-6)


def test_labels_may_be_texts():
    head = MultiClassHead(3, label_vocabulary=["a", "b", "c"])
    np.testing.assert_allclose(head.loss(Texts.of(["a", "c"]), LOGITS), LOSSES.mean(), rtol=1e-6)
    found = head.predictions(LOGITS)
    assert np.asarray(found["classes"]).tolist() == [[b"a"], [b"c"]]
    assert found["all_class_ids"].tolist() == [[0, 1, 2]] * 2
    with pytest.raises(ValueError, match="Labels must be >= 0"):
        head.loss(Texts.of(["a", "d"]), LOGITS)


def test_accuracy_is_weighted():
    head = MultiClassHead(3, weight_column="w")
    features = {"w": jnp.array([1.0, 3.0])}
    found = head.update_metrics(head.metrics(), features, LOGITS, jnp.array([1, 2]))
    assert float(found["accuracy"].result()) == 0.75


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="n_classes must be > 2: 2"):
        MultiClassHead(2)
    with pytest.raises(ValueError, match=r"Labels dtype should be integer\. Instead got float32"):
        MultiClassHead(3).loss([0.0, 1.0], LOGITS)
    with pytest.raises(ValueError, match=r"Labels dtype should be integer\. Instead got string"):
        MultiClassHead(3).loss(Texts.of(["0", "1"]), LOGITS)
    with pytest.raises(ValueError, match="Labels dtype should be string"):
        MultiClassHead(3, label_vocabulary=["a", "b", "c"]).loss([0, 1], LOGITS)
