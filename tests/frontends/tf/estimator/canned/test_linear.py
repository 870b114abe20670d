"""Linear models of feature columns."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import FEATURES, LABELS, batches, numbers, words


@pytest.mark.parametrize("module", [tf.estimator, tf.compat.v1.estimator], ids=["v2", "v1"])
def test_a_classifier_of_texts_learns(module, tmp_path):
    names = np.array(["below", "above"])[LABELS]
    classifier = module.LinearClassifier(
        [numbers(), words()], tmp_path, label_vocabulary=["below", "above"]
    )
    classifier.train(batches(names), steps=40)
    assert classifier.evaluate(batches(names, epochs=1))["accuracy"] > 0.95
    first = next(iter(classifier.predict(batches(None, epochs=1))))
    assert first["classes"].tolist() == [names[0].encode()]
    assert first["all_classes"].tolist() == [b"below", b"above"]


def test_weights_of_zero_leave_examples_out(tmp_path):
    features = FEATURES | {"weight": (np.arange(len(LABELS)) % 2).astype(np.float32)}
    wrong = np.where(np.arange(len(LABELS)) % 2, LABELS, 1 - LABELS)
    classifier = tf.estimator.LinearClassifier([numbers()], tmp_path, weight_column="weight")
    classifier.train(batches(wrong, features=features), steps=40)
    assert classifier.evaluate(batches(wrong, epochs=1, features=features))["accuracy"] > 0.95


def test_a_regressor_learns(tmp_path):
    targets = FEATURES["x"][:, 0] * 2 - 1
    regressor = tf.estimator.LinearRegressor([numbers()], tmp_path, optimizer="Adam")
    regressor.train(batches(targets), steps=80)
    assert regressor.evaluate(batches(targets, epochs=1))["average_loss"] < 0.05
    value = next(iter(regressor.predict(batches(None, epochs=1))))["predictions"]
    np.testing.assert_allclose(value, targets[:1], atol=0.5)


def test_an_estimator_takes_a_head(tmp_path):
    counts = np.arange(len(LABELS)) % 3
    estimator = tf.estimator.LinearEstimator(
        tf.estimator.PoissonRegressionHead(), [numbers()], tmp_path, optimizer="SGD"
    )
    estimator.train(batches(counts.astype(np.float32)), steps=2)
    assert all(one["predictions"] > 0 for one in estimator.predict(batches(None, epochs=1)))


def test_only_the_rows_of_a_batch_move(tmp_path):
    classifier = tf.estimator.LinearClassifier([words()], tmp_path)
    left = {"side": np.array(["left"] * 8)}
    classifier.train(batches(LABELS[:8], 8, features=left), steps=2)
    weights = classifier.get_variable_value("linear/linear_model/side/weights")
    assert weights[0] != 0
    assert weights[1] == 0


def test_options_are_checked(tmp_path):
    with pytest.raises(ValueError, match="Invalid loss_reduction: largest"):
        tf.estimator.LinearClassifier([numbers()], tmp_path, loss_reduction="largest")
    with pytest.raises(ValueError, match="n_classes must be > 2: 1"):
        tf.estimator.LinearClassifier([numbers()], tmp_path, n_classes=1)
    with pytest.raises(ValueError, match='does not have "n_classes" items'):
        tf.estimator.LinearClassifier(
            [numbers()], tmp_path, n_classes=3, label_vocabulary=["a", "b"]
        )
    with pytest.raises(ValueError, match="Unsupported optimizer name: Adamant"):
        tf.estimator.LinearClassifier([numbers()], tmp_path, optimizer="Adamant").train(
            batches(), steps=1
        )
