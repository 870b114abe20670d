"""Metrics of Keras in eval_metric_ops."""

import keras
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import X, Y, data, linear


def evaluated(folder, make, strategy=None):
    """Evaluates metrics over two batches of four, at the initial weights."""

    def model_fn(features, labels, mode, params):
        spec = linear(features, labels, mode, params)
        if mode != tf.estimator.ModeKeys.EVAL:
            return spec
        found = make(features, labels)
        return tf.estimator.EstimatorSpec(mode, loss=spec.loss, eval_metric_ops=found)

    config = tf.estimator.RunConfig(eval_distribute=strategy)
    return tf.estimator.Estimator(model_fn, folder, config, {"rate": 0.1}).evaluate(data())


def updated(metric, *values):
    metric.update_state(*values)
    return metric


def metrics(features, labels):
    return {
        "mean": updated(tf.keras.metrics.Mean(), features),
        "other": updated(tf.keras.metrics.Mean(), labels),
        "auc": updated(tf.keras.metrics.AUC(), features > 0.3, labels / 4),
        "mse": updated(tf.keras.metrics.MeanSquaredError(), labels, features),
        "old": tf.compat.v1.metrics.mean(features),
    }


@pytest.mark.parametrize("devices", [1, 2])
def test_batches_are_put_together(tmp_path, devices):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)])
    found = evaluated(tmp_path, metrics, strategy)
    assert found["mean"] == pytest.approx(X.mean())
    assert found["old"] == pytest.approx(X.mean())
    assert found["other"] == pytest.approx(Y.mean())
    assert found["mse"] == pytest.approx(np.mean((Y - X) ** 2))
    expected = updated(keras.metrics.AUC(), X > 0.3, Y / 4).result()
    assert found["auc"] == pytest.approx(float(expected))


def test_a_class_may_inherit_one_that_adds_up(tmp_path):
    class Halves(tf.keras.metrics.Mean):
        def update_state(self, values):
            super().update_state(values / 2)

    found = evaluated(tmp_path, lambda x, y: {"half": updated(Halves(), x)})
    assert found["half"] == pytest.approx(X.mean() / 2)


def test_what_may_not_add_up_is_an_error(tmp_path):
    class Largest(tf.keras.metrics.Metric):
        def update_state(self, values):
            pass

        def result(self):
            return 0.0

    with pytest.raises(TypeError, match=r"Largest in eval_metric_ops inherits tf\.keras\.metrics"):
        evaluated(tmp_path, lambda x, y: {"it": updated(Largest(), x)})
