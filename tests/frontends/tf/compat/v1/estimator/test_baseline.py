"""Estimators of TensorFlow 1 that look at labels alone."""

import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import batches


def test_losses_are_sums_and_slots_have_tensorflows_names(tmp_path):
    classifier = tf.compat.v1.estimator.BaselineClassifier(tmp_path)
    classifier.train(batches(), steps=1)
    found = classifier.evaluate(batches(epochs=1))
    assert found["loss"] == pytest.approx(32 * found["average_loss"])
    assert classifier.get_variable_names() == [
        *("baseline/bias", "baseline/bias/Ftrl", "baseline/bias/Ftrl_1", "global_step"),
    ]
    estimator = tf.compat.v1.estimator.BaselineEstimator(tf.estimator.BinaryClassHead())
    assert estimator.config.is_chief
