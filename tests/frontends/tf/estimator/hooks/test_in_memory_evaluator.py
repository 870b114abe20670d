"""Evaluations of variables that no checkpoint holds."""

import logging

import pytest

from frontends import tf
from frontends.tf.estimator.early_stopping import read_eval_metrics
from tests.frontends.tf.estimator.models import data, linear

Hook = tf.estimator.experimental.InMemoryEvaluatorHook


def test_variables_are_evaluated_as_they_are(tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    config = tf.estimator.RunConfig(save_checkpoints_secs=None)
    estimator = tf.estimator.Estimator(linear, tmp_path / "a", config, {"rate": 0.1})
    hook = Hook(estimator, data(), name="memory", every_n_iter=2)
    estimator.train(data(10), hooks=[hook], steps=5)
    found = read_eval_metrics(estimator.eval_dir("memory"))
    assert list(found) == [0, 2, 4, 5]
    assert caplog.messages.count("Calling model_fn.") == 2  # to train, and for all evaluations
    # What a checkpoint of the same step gives.
    other = tf.estimator.Estimator(linear, tmp_path / "b", params={"rate": 0.1})
    assert other.train(data(10), steps=4).evaluate(data())["loss"] == pytest.approx(
        found[4]["loss"], rel=1e-6
    )


def test_options_are_checked(tmp_path, monkeypatch):
    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    with pytest.raises(ValueError, match="invalid every_n_iter=0"):
        Hook(estimator, data(), every_n_iter=0)
    with pytest.raises(TypeError, match="must be SessionRunHook instances"):
        Hook(estimator, data(), hooks=[1])
    cluster = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'
    monkeypatch.setenv("TF_CONFIG", cluster)
    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    with pytest.raises(ValueError, match="only single machine"):
        Hook(estimator, data())
