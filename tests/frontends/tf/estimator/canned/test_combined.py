"""Networks and linear models together."""

import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import FEATURES, batches, numbers, words


@pytest.mark.parametrize("module", [tf.estimator, tf.compat.v1.estimator], ids=["v2", "v1"])
def test_a_classifier_learns(module, tmp_path):
    classifier = module.DNNLinearCombinedClassifier(
        tmp_path,
        linear_feature_columns=[words()],
        linear_optimizer="Adam",
        dnn_feature_columns=[numbers(), tf.feature_column.embedding_column(words(), 2)],
        dnn_optimizer=tf.train.AdagradOptimizer(0.2),
        dnn_hidden_units=[8],
    )
    classifier.train(batches(), steps=60)
    assert classifier.evaluate(batches(epochs=1))["accuracy"] > 0.95
    assert classifier.get_variable_value("global_step") == 60


def test_either_model_may_be_left_out(tmp_path):
    wide = tf.estimator.DNNLinearCombinedRegressor(
        tmp_path / "wide", linear_feature_columns=[numbers()]
    )
    targets = FEATURES["x"][:, 0]
    wide.train(batches(targets), steps=1)
    assert not any(name.startswith("dnn") for name in wide.get_variable_names())
    deep = tf.estimator.DNNLinearCombinedEstimator(
        tf.estimator.RegressionHead(),
        tmp_path / "deep",
        dnn_feature_columns=[numbers()],
        dnn_hidden_units=[4],
    )
    deep.train(batches(targets), steps=1)
    assert not any(name.startswith("linear") for name in deep.get_variable_names())


def test_columns_and_units_are_needed():
    with pytest.raises(ValueError, match="Either linear_feature_columns or dnn_feature_columns"):
        tf.estimator.DNNLinearCombinedClassifier()
    with pytest.raises(ValueError, match="dnn_hidden_units must be defined"):
        tf.estimator.DNNLinearCombinedClassifier(dnn_feature_columns=[numbers()])
