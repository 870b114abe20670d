"""Linear models of TensorFlow 1."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import LABELS, batches, numbers


def test_losses_are_sums_and_slots_have_tensorflows_names(tmp_path):
    classifier = tf.compat.v1.estimator.LinearClassifier([numbers()], tmp_path)
    classifier.train(batches(), steps=1)
    found = classifier.evaluate(batches(epochs=1))
    assert found["loss"] == pytest.approx(32 * found["average_loss"])
    assert {
        "linear/linear_model/x/weights/part_0/Ftrl",
        "linear/linear_model/bias_weights/part_0/Ftrl_1",
    } <= set(classifier.get_variable_names())


def test_regressors_and_heads_sum_losses_too(tmp_path):
    module, targets = tf.compat.v1.estimator, LABELS.astype(np.float32)
    regressor = module.LinearRegressor([numbers()], tmp_path / "a", optimizer="SGD")
    estimator = module.LinearEstimator(
        tf.estimator.RegressionHead(loss_reduction="sum"), [numbers()], tmp_path / "b", "SGD"
    )
    weights = [
        one.train(batches(targets), steps=2).get_variable_value("linear/linear_model/x/weights")
        for one in (regressor, estimator)
    ]
    np.testing.assert_allclose(*weights)
