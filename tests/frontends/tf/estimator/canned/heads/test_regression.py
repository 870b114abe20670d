"""The heads of numbers."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from frontends.tf.estimator.canned.heads import (
    LogisticRegressionHead,
    PoissonRegressionHead,
    RegressionHead,
)

LOGITS = jnp.array([[1.0], [3.0]])


def test_the_loss_is_the_mean_squared_difference():
    assert float(RegressionHead().loss([0.0, 1.0], LOGITS)) == 2.5
    head = RegressionHead(weight_column="w")
    assert float(head.loss([0.0, 1.0], LOGITS, {"w": jnp.array([2, 0])})) == 1.0


def test_predictions_are_the_logits_or_what_a_link_makes_of_them():
    assert list(RegressionHead().predictions(LOGITS)) == ["predictions"]
    found = RegressionHead(inverse_link_fn=jnp.exp).predictions(LOGITS)
    np.testing.assert_allclose(found["predictions"], np.exp(LOGITS))
    assert found["logits"].tolist() == LOGITS.tolist()


def test_metrics_are_means():
    head = RegressionHead()
    found = head.update_metrics(head.metrics(), {}, LOGITS, jnp.array([0.0, 1.0]))
    values = {key: float(one.result()) for key, one in found.items()}
    assert values == {"average_loss": 2.5, "prediction/mean": 2.0, "label/mean": 0.5}


def test_counts_have_the_likelihood_of_poisson():
    counts = jnp.array([0.0, 9.0])
    head = PoissonRegressionHead()
    exact = np.exp(LOGITS[:, 0]) - LOGITS[:, 0] * counts + special.gammaln(counts + 1)
    np.testing.assert_allclose(head.loss(counts, LOGITS), exact.mean(), rtol=1e-2)
    np.testing.assert_allclose(head.predictions(LOGITS)["predictions"], np.exp(LOGITS))


def test_shares_have_cross_entropy():
    expected = np.mean([np.log1p(np.exp(1.0)) - 0.5, np.log1p(np.exp(-3.0))])
    np.testing.assert_allclose(
        LogisticRegressionHead().loss([0.5, 1.0], LOGITS), expected, rtol=1e-6
    )
    with pytest.raises(ValueError, match=r"Labels must be in range \[0, 1\]"):
        LogisticRegressionHead().loss([0.5, 2.0], LOGITS)


def test_there_is_a_number_at_least():
    with pytest.raises(ValueError, match="Invalid label_dimension 0"):
        RegressionHead(0)
