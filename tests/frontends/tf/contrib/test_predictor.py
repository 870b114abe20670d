"""Functions that predict, of what an estimator has exported."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    factor = v1.get_variable("factor", [], initializer=tf.ones_initializer())
    predictions = {"y": features["x"] * factor}
    outputs = {
        "serving_default": tf.estimator.export.PredictOutput(predictions),
        "twice": tf.estimator.export.PredictOutput({"z": 2 * predictions["y"]}),
    }
    step = v1.train.get_global_step()
    train_op = tf.group(factor.assign_add(1.0), step.assign_add(1))
    loss = tf.reduce_mean(predictions["y"])
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, export_outputs=outputs)


def receiver():
    inputs = {"x": v1.placeholder(tf.float32, [None])}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


def test_a_trained_estimator_predicts(tmp_path):
    estimator = tf.estimator.Estimator(model_fn, tmp_path / "model")
    data = {"x": np.float32([1.0, 2.0])}
    estimator.train(lambda: tf.data.Dataset.from_tensors((data, 0)), steps=1)
    predict = tf.contrib.predictor.from_estimator(estimator, receiver)
    found = predict(data)
    assert isinstance(found["y"], np.ndarray)
    assert found["y"].tolist() == [2.0, 4.0]
    path = estimator.export_saved_model(tmp_path / "export", receiver)
    twice = tf.contrib.predictor.from_saved_model(path, "twice")
    assert twice(data)["z"].tolist() == [4.0, 8.0]
    with pytest.raises(ValueError, match=r"No signature none .* There are: .*twice"):
        tf.contrib.predictor.from_saved_model(path, "none")
    with pytest.raises(ValueError, match="signature_def_key="):
        tf.contrib.predictor.from_saved_model(path, input_names={"x": "x:0"})
