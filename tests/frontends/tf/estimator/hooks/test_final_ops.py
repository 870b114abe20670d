"""Values after the last step."""

import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import X, data, linear

v1 = tf.compat.v1


def test_variables_metrics_and_tensors_are_read(tmp_path):
    hooks = []

    def model_fn(features, labels, mode, params):
        mean = v1.metrics.mean(features)
        last = tf.reduce_sum(features)
        spec = linear(features, labels, mode, params)
        kernel = v1.global_variables()[1]
        hooks[:] = [tf.train.FinalOpsHook({"mean": mean[0], "kernel": kernel, "last": last})]
        return spec._replace(eval_metric_ops={"mean": mean}, evaluation_hooks=hooks)

    estimator = tf.estimator.Estimator(model_fn, tmp_path, params={"rate": 0.1})
    estimator.train(data(), steps=1)
    metrics = estimator.evaluate(data())
    found = hooks[0].final_ops_values
    assert found["mean"] == metrics["mean"] == pytest.approx(X.mean())
    assert found["last"] == X[4:].sum()
    assert found["kernel"] == estimator.get_variable_value("dense/kernel")


def test_nothing_is_fed(tmp_path):
    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    with pytest.raises(ValueError, match="needs placeholders"):
        estimator.train(data(), hooks=[tf.train.FinalOpsHook([], {"x": 1})], steps=1)
