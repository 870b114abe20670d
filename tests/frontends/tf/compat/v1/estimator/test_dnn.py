"""Networks of TensorFlow 1."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import LABELS, batches, numbers


def test_losses_are_sums_and_slots_have_tensorflows_names(tmp_path):
    classifier = tf.compat.v1.estimator.DNNClassifier([4], [numbers()], tmp_path, batch_norm=True)
    classifier.train(batches(), steps=2)
    found = classifier.evaluate(batches(epochs=1))
    assert found["loss"] == pytest.approx(32 * found["average_loss"])
    assert "dnn/hiddenlayer_0/kernel/t_0/Adagrad" in classifier.get_variable_names()
    moved = classifier.get_variable_value("dnn/hiddenlayer_0/batchnorm_0/moving_variance")
    assert (moved != 1).all()


def test_regressors_and_heads(tmp_path):
    module, targets = tf.compat.v1.estimator, LABELS.astype(np.float32)
    regressor = module.DNNRegressor([4], [numbers()], tmp_path / "a", dropout=0.2)
    assert (
        regressor.train(batches(targets), steps=1).evaluate(batches(targets), steps=1)["loss"] > 0
    )
    estimator = module.DNNEstimator(
        tf.estimator.RegressionHead(), [4], [numbers()], tmp_path / "b", activation_fn="tanh"
    )
    assert estimator.train(batches(targets), steps=1).latest_checkpoint().endswith("-1")
