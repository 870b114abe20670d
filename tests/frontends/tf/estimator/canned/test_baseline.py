"""Estimators that look at labels alone."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import LABELS, batches


def test_a_classifier_learns_how_frequent_classes_are(tmp_path):
    labels = np.where(np.arange(len(LABELS)) % 4 == 0, 0, 2)
    classifier = tf.estimator.BaselineClassifier(tmp_path, n_classes=3)
    classifier.train(batches(labels), steps=60)
    row = next(iter(classifier.predict(batches(None, epochs=1))))["probabilities"]
    np.testing.assert_allclose(row, [0.25, 0, 0.75], atol=0.06)


def test_a_regressor_learns_the_mean(tmp_path):
    regressor = tf.compat.v1.estimator.BaselineRegressor(tmp_path, optimizer="Adam")
    regressor.train(batches(np.full(len(LABELS), 2.0, np.float32)), steps=60)
    row = next(iter(regressor.predict(batches(None, epochs=1))))["predictions"]
    np.testing.assert_allclose(row, [2.0], atol=0.3)


def test_an_estimator_takes_a_head(tmp_path):
    estimator = tf.estimator.BaselineEstimator(tf.estimator.LogisticRegressionHead(), tmp_path)
    estimator.train(batches(LABELS.astype(np.float32)), steps=2)
    assert estimator.get_variable_names()[0] == "baseline/bias"


def test_features_are_needed(tmp_path):
    classifier = tf.estimator.BaselineClassifier(tmp_path, weight_column="x")
    with pytest.raises(ValueError, match="at least one feature"):
        classifier.train(batches(features={"x": np.ones(len(LABELS), np.float32)}), steps=1)
