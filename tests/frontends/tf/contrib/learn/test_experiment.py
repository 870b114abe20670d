"""Experiments."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.compat import v1
from frontends.tf.contrib import learn


def model_fn(features, labels, mode, params):
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(weight - features))
    train_op = v1.train.GradientDescentOptimizer(0.25).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"weight": weight}, loss, train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(np.float32([1.0])).repeat(50).batch(1)


class Exports:
    """What an export strategy was asked."""

    def __init__(self):
        self.steps = []
        self.strategy = learn.ExportStrategy("mine", self)

    def __call__(self, estimator, path, checkpoint_path, eval_result):
        assert path == f"{estimator.model_dir}/export/mine"
        self.steps.append(int(eval_result["global_step"]))
        return path


def experiment(folder, **options):
    config = learn.RunConfig(save_checkpoints_steps=2, model_dir=folder, save_summary_steps=None)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={})
    return learn.Experiment(estimator, input_fn, input_fn, eval_steps=1, **options)


@pytest.mark.parametrize(
    ("options", "evaluated", "exported"),
    [
        ({}, [2, 4, 6], [6]),
        ({"min_eval_frequency": 3}, [4, 6], [6]),
        ({"min_eval_frequency": 0}, [6], [6]),
        ({"checkpoint_and_export": True}, [2, 4, 6], [2, 4, 6]),
    ],
)
def test_it_evaluates_new_checkpoints(options, evaluated, exported, tmp_path, monkeypatch):
    exports, steps = Exports(), []
    one = experiment(tmp_path, train_steps=6, export_strategies=exports.strategy, **options)
    evaluate = one.estimator.evaluate

    def noting(*args, **kwargs):
        found = evaluate(*args, **kwargs)
        steps.append(int(found["global_step"]))
        return found

    monkeypatch.setattr(one.estimator, "evaluate", noting)
    metrics, results = one.train_and_evaluate()
    assert (steps, exports.steps) == (evaluated, exported)
    assert metrics["loss"] == pytest.approx(0.5**12)
    assert results == [f"{tmp_path}/export/mine"]


def test_it_trains_and_evaluates_in_turns(tmp_path):
    exports = Exports()
    one = experiment(tmp_path, train_steps=4, train_steps_per_iteration=2)
    assert one.reset_export_strategies(exports.strategy) == []
    metrics, _ = one.continuous_train_and_eval()
    assert metrics["global_step"] == 4
    assert exports.steps == [2, 4]
    metrics, _ = one.continuous_train_and_eval(lambda found: found is None)
    assert metrics["global_step"] == 6


def test_one_step_tests_it(tmp_path):
    one, begun = experiment(tmp_path), []
    hook = tf.estimator.SessionRunHook()
    hook.begin = lambda: begun.append(True)
    one.extend_train_hooks([hook])
    metrics, exports = one.test()
    assert begun == [True]
    assert (metrics["global_step"], exports) == (1, [])
    assert one.evaluate(delay_secs=0)["loss"] == metrics["loss"]
    assert (tmp_path / "eval_one_pass").is_dir()


def test_an_evaluation_waits_first(tmp_path, monkeypatch):
    one, waited = experiment(tmp_path, eval_delay_secs=0.5), []
    monkeypatch.setattr("time.sleep", waited.append)
    monkeypatch.setattr(one.estimator, "evaluate", lambda *args, **kwargs: {})
    assert one.evaluate() == {}
    assert waited == [0.5]


def test_what_it_does_not_take(tmp_path):
    with pytest.raises(ValueError, match="must implement"):
        learn.Experiment(3, input_fn, input_fn)
    with pytest.raises(ValueError, match="Use `eval_metric_ops`"):
        experiment(tmp_path, eval_metrics={})
