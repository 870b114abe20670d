"""Networks of feature columns."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import FEATURES, LABELS, batches, numbers, words

COLUMNS = [numbers(), tf.feature_column.indicator_column(words())]


@pytest.mark.parametrize("module", [tf.estimator, tf.compat.v1.estimator], ids=["v2", "v1"])
def test_a_classifier_learns(module, tmp_path):
    classifier = module.DNNClassifier(
        [8], COLUMNS, tmp_path, optimizer=lambda: tf.keras.optimizers.Adam(0.05)
    )
    classifier.train(batches(), steps=60)
    found = classifier.evaluate(batches(epochs=1))
    assert found["accuracy"] > 0.95
    assert found["auc"] > 0.98
    predicted = [one["classes"][0] for one in classifier.predict(batches(None, epochs=1))]
    assert np.mean([int(one) == label for one, label in zip(predicted, LABELS, strict=True)]) > 0.95


def test_a_regressor_of_two_numbers_learns(tmp_path):
    targets = np.stack([FEATURES["x"][:, 0], -FEATURES["x"][:, 1]], 1)
    regressor = tf.estimator.DNNRegressor(
        [16], COLUMNS, tmp_path, label_dimension=2, optimizer=tf.train.AdamOptimizer(0.05)
    )
    regressor.train(batches(targets), steps=80)
    assert regressor.evaluate(batches(targets, epochs=1))["average_loss"] < 0.05


def test_another_starts_where_one_ended(tmp_path):
    def trained(folder, steps=1, **options):
        estimator = tf.estimator.DNNClassifier([4], COLUMNS, tmp_path / folder, **options)
        return estimator.train(batches(), steps=steps).get_variable_value(kernel)

    kernel = "dnn/hiddenlayer_0/kernel"
    first = trained("first", 3)
    options = {"optimizer": "SGD", "config": tf.estimator.RunConfig(tf_random_seed=7)}
    second = trained("second", warm_start_from=str(tmp_path / "first"), **options)
    np.testing.assert_allclose(second, first, atol=0.05)
    logits = tf.estimator.WarmStartSettings(str(tmp_path / "first"), ".*logits.*")
    third = trained("third", warm_start_from=logits, **options)
    assert not np.allclose(third, first, atol=0.1)


def test_training_goes_on_with_the_slots(tmp_path):
    classifier = tf.estimator.DNNClassifier([4], COLUMNS, tmp_path)
    slot = "training/Adagrad/dnn/logits/bias/accumulator"
    first = classifier.train(batches(), steps=2).get_variable_value(slot)
    second = classifier.train(batches(), steps=2).get_variable_value(slot)
    assert second > first > 0.1
    assert classifier.get_variable_value("global_step") == 4


def test_an_estimator_takes_a_head(tmp_path):
    labels = np.stack([LABELS, 1 - LABELS], 1)
    estimator = tf.estimator.DNNEstimator(
        tf.estimator.MultiLabelHead(2), [8], COLUMNS, tmp_path, optimizer="Adam"
    )
    estimator.train(batches(labels), steps=5)
    assert {"auc", "auc_precision_recall", "average_loss"} <= estimator.evaluate(
        batches(labels, epochs=1)
    ).keys()


def test_features_are_a_dictionary(tmp_path):
    classifier = tf.estimator.DNNClassifier([4], COLUMNS, tmp_path)
    with pytest.raises(ValueError, match="features should be a dictionary"):
        classifier.train(batches(features=FEATURES["x"]))


def test_labels_out_of_range_end_training(tmp_path):
    classifier = tf.estimator.DNNClassifier([4], COLUMNS, tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"<= 2 - 1 .*but are from 1 to 2"):
        classifier.train(batches(LABELS + 1), steps=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Labels must be >= 0"):
        classifier.evaluate(batches(LABELS - 1), steps=1)
