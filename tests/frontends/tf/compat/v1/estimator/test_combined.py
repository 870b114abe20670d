"""Networks and linear models of TensorFlow 1, together."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import LABELS, batches, numbers

COLUMNS = {
    "linear_feature_columns": [numbers()],
    "dnn_feature_columns": [numbers()],
    "dnn_hidden_units": [4],
}


def test_losses_are_sums_and_slots_have_tensorflows_names(tmp_path):
    classifier = tf.compat.v1.estimator.DNNLinearCombinedClassifier(
        tmp_path, dnn_optimizer="Adam", linear_optimizer="Adam", **COLUMNS
    )
    classifier.train(batches(), steps=2)
    found = classifier.evaluate(batches(epochs=1))
    assert found["loss"] == pytest.approx(32 * found["average_loss"])
    assert found["global_step"] == 2
    assert {"head/beta1_power", "dnn/logits/bias/Adam", "linear/linear_model/x/weights/Adam_1"} <= {
        *classifier.get_variable_names()
    }


def test_regressors_and_heads(tmp_path):
    module, targets = tf.compat.v1.estimator, LABELS.astype(np.float32)
    regressor = module.DNNLinearCombinedRegressor(tmp_path / "a", **COLUMNS)
    assert regressor.train(batches(targets), steps=1).latest_checkpoint().endswith("-1")
    estimator = module.DNNLinearCombinedEstimator(
        tf.estimator.RegressionHead(), tmp_path / "b", **COLUMNS
    )
    assert estimator.train(batches(targets), steps=1).latest_checkpoint().endswith("-1")
