"""Training with evaluations in between."""

import threading
import time

import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import data, linear


class Noting:
    """Exports by noting what it gets."""

    name = "noting"

    def __init__(self):
        self.exports = []

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        self.exports.append((int(eval_result["global_step"]), is_the_final_export))
        return export_path


def _estimator(folder, **config):
    return tf.estimator.Estimator(linear, folder, tf.estimator.RunConfig(**config), {"rate": 0.1})


def test_checkpoints_are_evaluated_and_exported(tmp_path):
    exporter = Noting()
    metrics, exports = tf.estimator.train_and_evaluate(
        _estimator(tmp_path, save_checkpoints_steps=4),
        tf.estimator.TrainSpec(data(100), max_steps=10),
        tf.estimator.EvalSpec(data(), steps=None, exporters=exporter, throttle_secs=0),
    )
    assert exporter.exports == [(4, False), (8, False), (10, True)]
    assert exports == [f"{tmp_path}/export/noting"]
    assert metrics["global_step"] == 10


def test_evaluations_are_not_too_often(tmp_path):
    exporter = Noting()
    tf.estimator.train_and_evaluate(
        _estimator(tmp_path, save_checkpoints_steps=2),
        tf.estimator.TrainSpec(data(100), max_steps=10),
        tf.estimator.EvalSpec(data(), exporters=exporter, throttle_secs=1000),
    )
    assert exporter.exports == [(2, False), (10, True)]


@pytest.mark.parametrize("first", ["evaluator", "worker"])
def test_an_evaluator_follows_checkpoints_until_the_last(tmp_path, monkeypatch, first):
    config = '{"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}'
    monkeypatch.setenv("TF_CONFIG", config)
    evaluator = _estimator(tmp_path)
    monkeypatch.delenv("TF_CONFIG")
    exporter = Noting()
    specs = (
        tf.estimator.TrainSpec(data(100), max_steps=6),
        tf.estimator.EvalSpec(data(), exporters=exporter, start_delay_secs=0, throttle_secs=0),
    )
    follows = threading.Thread(target=tf.estimator.train_and_evaluate, args=(evaluator, *specs))
    if first == "evaluator":
        follows.start()
        time.sleep(0.5)
    _estimator(tmp_path).train(data(100), max_steps=6)
    if first == "worker":
        follows.start()
    follows.join(60)
    assert exporter.exports[-1] == (6, True)


def test_an_evaluator_that_would_never_end_is_an_error(tmp_path, monkeypatch):
    config = '{"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}'
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(ValueError, match="which TrainSpec does not name"):
        tf.estimator.train_and_evaluate(
            _estimator(tmp_path), tf.estimator.TrainSpec(data()), tf.estimator.EvalSpec(data())
        )
