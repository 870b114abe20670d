"""Features beside predictions."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

X = np.float32([1.0, 2.0, 3.0])
KEYS = np.int32([7, 8, 9])


def model_fn(features, labels, mode):
    predictions = {"y": features["x"] * 2}
    outputs = {"serving_default": tf.estimator.export.PredictOutput(predictions)}
    return tf.estimator.EstimatorSpec(mode, predictions, export_outputs=outputs)


def input_fn(**others):
    features = {"x": X, "key": KEYS, **others}
    return lambda: tf.data.Dataset.from_tensor_slices(features).batch(2)


def rows(keys, tmp_path, **others):
    estimator = tf.contrib.estimator.forward_features(
        tf.estimator.Estimator(model_fn, tmp_path), keys
    )
    with Graph().as_default():
        features = {"x": tf.constant(X), "key": tf.constant(KEYS), **others}
        return estimator.model_fn(features, None, "infer", estimator.config)


@pytest.mark.parametrize(("keys", "forwarded"), [("key", ["key"]), (None, ["key", "x"])])
def test_predictions_hold_features(keys, forwarded, tmp_path):
    spec = rows(keys, tmp_path)
    assert list(spec.predictions) == ["y", *forwarded]
    assert spec.predictions["key"].tolist() == KEYS.tolist()
    assert list(spec.export_outputs["serving_default"].outputs) == ["y", *forwarded]


def test_what_cannot_be_forwarded(tmp_path):
    for keys, error, problem in (
        (["no"], ValueError, "there is no no"),
        ([3], TypeError, "must be texts, got 3"),
        (["y"], ValueError, "exists in predictions as y"),
    ):
        with pytest.raises(error, match=problem):
            rows(keys, tmp_path, y=tf.constant(X))


def test_texts_come_back_as_they_are(tmp_path):
    step = tf.compat.v1.train.get_or_create_global_step

    def training(features, labels, mode):
        predictions, loss = {"y": features["x"] * 2}, tf.reduce_mean(features["x"])
        return tf.estimator.EstimatorSpec(mode, predictions, loss, step().assign_add(1))

    estimator = tf.estimator.Estimator(training, tmp_path)
    texts = input_fn(text=np.array(["a", "b", "c"]))
    estimator.train(texts, steps=1)
    forwarding = tf.contrib.estimator.forward_features(estimator, "text")
    assert [one["text"] for one in forwarding.predict(texts)] == [b"a", b"b", b"c"]
