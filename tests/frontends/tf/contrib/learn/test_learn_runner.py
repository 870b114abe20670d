"""Running experiments."""

import json

import pytest

from frontends import tf
from frontends.tf.contrib import learn


class Experiment(learn.Experiment):
    """Tells which of its methods was called."""

    def train(self, delay_secs=None):
        return "train"

    def train_and_evaluate(self):
        return "train_and_evaluate"

    def run_std_server(self):
        return "run_std_server"


def make(output_dir):
    return Experiment(tf.estimator.Estimator(lambda features: None, output_dir), None, None)


def make_with(config, params):  # the names are the script's
    assert params == 3
    return Experiment(tf.estimator.Estimator(lambda features: None, config=config), None, None)


@pytest.mark.parametrize(
    ("task", "schedule"),
    [
        (None, "train_and_evaluate"),
        ("master", "train_and_evaluate"),
        ("worker", "train"),
        ("ps", "run_std_server"),
    ],
)
def test_the_task_says_what_runs(task, schedule, tmp_path, monkeypatch):
    if task:
        cluster = {job: ["localhost:1"] for job in ("master", "worker", "ps")}
        found = json.dumps({"cluster": cluster, "task": {"type": task, "index": 0}})
        monkeypatch.setenv("TF_CONFIG", found)
    assert learn.learn_runner.run(make, tmp_path) == schedule
    config = learn.RunConfig(model_dir=tmp_path)
    run = learn.learn_runner.run
    assert run(make_with, run_config=config, schedule="train", hparams=3) == "train"


def test_what_it_does_not_run(tmp_path, monkeypatch):
    run, config = learn.learn_runner.run, learn.RunConfig(model_dir=tmp_path)
    for arguments, error, problem in (
        ({"output_dir": "a", "run_config": config}, ValueError, "Cannot provide both"),
        ({}, ValueError, "Must set value"),
        ({"output_dir": "a", "hparams": 1}, ValueError, "needs `run_config`"),
        ({"run_config": learn.RunConfig()}, ValueError, "Must specify a model directory"),
        ({"output_dir": tmp_path, "schedule": "no"}, ValueError, "There are: .*train_and_evaluate"),
    ):
        with pytest.raises(error, match=problem):
            run(make, **arguments)
    with pytest.raises(TypeError, match="not callable"):
        run(3, tmp_path)
    with pytest.raises(TypeError, match="did not return"):
        run(lambda output_dir: 3, tmp_path)
    cluster = {"cluster": {"worker": ["localhost:1"]}, "task": {"type": "evaluator", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    with pytest.raises(ValueError, match="evaluator"):
        run(make, tmp_path)
