"""A second evaluation computes the same without a trace of its own."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import data, linear


@pytest.fixture
def traces():
    return []


@pytest.fixture
def estimator(tmp_path, traces):
    def model_fn(features, labels, mode, params):
        traces.append(mode)
        spec = linear(features, labels, mode, params)
        metrics = {"mean": tf.compat.v1.metrics.mean(labels + params["rate"])}
        hooks = params.get("evaluation_hooks")
        return spec._replace(eval_metric_ops=metrics, evaluation_hooks=hooks or ())

    estimator = tf.estimator.Estimator(model_fn, tmp_path, params={"rate": 0.1})
    estimator.train(data(10), steps=2)
    traces.clear()
    return estimator


@pytest.fixture
def keeping(estimator):
    with estimator.keeping_evaluations():
        yield


@pytest.mark.usefixtures("keeping")
def test_what_was_traced_serves_evaluations_of_the_same_function_on_the_same_kind_of_batch(
    estimator, traces
):
    first = estimator.evaluate(data())
    once = len(traces)
    assert estimator.evaluate(data(), hooks=[tf.estimator.SessionRunHook()]) == first
    found = estimator.evaluate_values({"dense/kernel": np.ones((1, 1))}, data())
    assert len(traces) == 2 * once  # not all variables are given
    assert found["global_step"] == 0
    estimator.train(data(10), steps=3)
    traces.clear()
    assert estimator.evaluate(data())["global_step"] == 5
    assert traces == []  # by the evaluation of values
    assert estimator.evaluate(data(batch=8))["mean"] == pytest.approx(first["mean"])
    assert len(traces) == once
    estimator.params["rate"] = 1.1
    assert estimator.evaluate(data(batch=8))["mean"] == pytest.approx(first["mean"] + 1)
    assert len(traces) == 2 * once


@pytest.mark.usefixtures("keeping")
def test_hooks_of_the_model_function_are_made_anew(estimator, traces):
    estimator.params["evaluation_hooks"] = [tf.estimator.SessionRunHook()]
    found = [estimator.evaluate(data(), steps=1) for _ in range(2)]
    assert found[0] == found[1]
    assert len(traces) % 2 == 0
    assert traces


def test_an_evaluation_by_itself_calls_the_model_function(tmp_path):
    settings = {"shift": 0.0}

    def model_fn(features, labels, mode, params):
        spec = linear(features, labels, mode, params)
        shifted = tf.compat.v1.metrics.mean(0 * labels + settings["shift"])
        return spec._replace(eval_metric_ops={"shift": shifted})

    estimator = tf.estimator.Estimator(model_fn, tmp_path, params={"rate": 0.1})
    estimator.train(data(10), steps=1)
    assert estimator.evaluate(data())["shift"] == 0
    settings["shift"] = 1.0
    assert estimator.evaluate(data())["shift"] == 1


def test_train_and_evaluate_calls_it_once_for_all_its_evaluations(tmp_path):
    modes = []

    def model_fn(features, labels, mode, params):
        modes.append(mode)
        return linear(features, labels, mode, params)

    config = tf.estimator.RunConfig(save_checkpoints_steps=2)
    estimator = tf.estimator.Estimator(model_fn, tmp_path, config, params={"rate": 0.1})
    train = tf.estimator.TrainSpec(data(None), max_steps=6)
    tf.estimator.train_and_evaluate(
        estimator, train, tf.estimator.EvalSpec(data(), throttle_secs=0)
    )
    once = modes.count("eval")
    modes.clear()
    estimator.evaluate(data())
    assert modes.count("eval") == once
