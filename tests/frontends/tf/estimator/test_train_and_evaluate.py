"""Training with evaluations in between."""

import sys
import threading
import time

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.early_stopping import read_eval_metrics
from tests.frontends.tf.estimator.models import by_hand, data, linear


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


def test_all_of_a_training_is_in_a_store(bucket, tmp_path, monkeypatch):
    """Checkpoints, summaries, exports and the mark of the end; nothing is left on the disk."""
    monkeypatch.chdir(tmp_path)
    folder, words = f"{bucket}/run", f"{bucket}/words.txt"
    tf.io.write_file(words, "a b")
    estimator = _estimator(folder, save_checkpoints_steps=2)

    def receive():
        x = tf.compat.v1.placeholder(tf.float32, [None, 1])
        return tf.estimator.export.TensorServingInputReceiver(x, {"x": x})

    best = tf.estimator.BestExporter(serving_input_receiver_fn=receive, exports_to_keep=1)
    hook = tf.estimator.experimental.stop_if_higher_hook(
        estimator, "loss", 1e6, run_every_secs=None, run_every_steps=1
    )
    for last_step in (4, 8):  # the second goes on
        tf.estimator.train_and_evaluate(
            _estimator(folder, save_checkpoints_steps=2),
            tf.estimator.TrainSpec(data(100), max_steps=last_step, hooks=[hook]),
            tf.estimator.EvalSpec(data(), steps=None, exporters=best, throttle_secs=0),
        )
    assert estimator.latest_checkpoint() == f"{folder}/model.ckpt-8"
    weight, _, _ = by_hand(8)
    np.testing.assert_allclose(estimator.get_variable_value("dense/kernel"), [[weight]], 1e-6)
    evaluated = read_eval_metrics(f"{folder}/eval")
    assert [*evaluated] == [2, 4, 6, 8]
    assert all(metrics["loss"] > 0 for metrics in evaluated.values())
    (exported,) = tf.io.gfile.listdir(f"{folder}/export/best_exporter")
    loaded = tf.saved_model.load(f"{folder}/export/best_exporter/{exported}")
    outputs = loaded.signatures["serving_default"](x=tf.ones([1, 1]))
    kernel, bias = (estimator.get_variable_value(f"dense/{name}") for name in ("kernel", "bias"))
    np.testing.assert_allclose(outputs["y"], kernel + bias, 1e-6)
    path = estimator.export_saved_model(f"{bucket}/served", receive, {"words.txt": words})
    assert tf.io.read_file(f"{path.decode()}/assets.extra/words.txt") == b"a b"
    assert tf.saved_model.contains_saved_model(path.decode())
    warm = tf.estimator.Estimator(linear, tmp_path / "warm", None, {"rate": 0.0}, folder)
    warm.train(data(100), steps=1)
    assert warm.get_variable_value("dense/kernel") == kernel
    assert [entry.name for entry in tmp_path.iterdir()] == ["warm"]


def test_what_is_trained_already_is_not_evaluated(tmp_path):
    _estimator(tmp_path).train(data(100), max_steps=2)
    found = tf.estimator.train_and_evaluate(
        _estimator(tmp_path),
        tf.estimator.TrainSpec(data(100), max_steps=2),
        tf.estimator.EvalSpec(data()),
    )
    assert found == (None, None)


def test_arguments_are_checked(tmp_path):
    with pytest.raises(TypeError, match=r"`train_spec` must have type `tf\.estimator\.TrainSpec`"):
        tf.estimator.train_and_evaluate(_estimator(tmp_path), None, None)


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


def test_an_evaluation_within_training_is_one_by_itself(tmp_path):
    """It computes on one device, and does not change what training draws."""

    def model_fn(features, labels, mode):
        if mode == tf.estimator.ModeKeys.EVAL:
            evaluated.append(tf.distribute.get_strategy().num_replicas_in_sync)
        drawn = tf.random.uniform([])
        loss = tf.reduce_mean(tf.layers.dense(features, 1) ** 2)
        step = tf.train.get_or_create_global_step()
        train_op = tf.assign_add(step, 1)
        hook = tf.train.LoggingTensorHook({"drawn": drawn}, 1, formatter=numbers.append)
        return tf.estimator.EstimatorSpec(mode, None, loss, train_op, training_hooks=[hook])

    def train(interval):
        folder = tmp_path / str(interval)
        strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
        config = tf.estimator.RunConfig(
            folder, save_checkpoints_steps=interval, train_distribute=strategy
        )
        numbers.clear()
        tf.estimator.train_and_evaluate(
            tf.estimator.Estimator(model_fn, config=config),
            tf.estimator.TrainSpec(data(100), max_steps=6),
            tf.estimator.EvalSpec(data(), throttle_secs=0),
        )
        return [float(one["drawn"]) for one in numbers]

    evaluated, numbers = [], []
    assert train(2) == train(100)
    assert {*evaluated} == {1}
    assert len({*map(str, numbers)}) == 6


EVALUATOR = '{"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}'
CHIEF = '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}'


def test_an_evaluator_ends_with_a_training_that_has_no_last_step(tmp_path, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", EVALUATOR)
    evaluator = _estimator(tmp_path)
    monkeypatch.setenv("TF_CONFIG", CHIEF)
    chief = _estimator(tmp_path)
    exporter = Noting()
    train_spec = tf.estimator.TrainSpec(data(3))
    # Long waits: the end of the training ends them.
    eval_spec = tf.estimator.EvalSpec(data(), exporters=exporter, start_delay_secs=600)
    specs = (train_spec, eval_spec)
    follows = threading.Thread(target=tf.estimator.train_and_evaluate, args=(evaluator, *specs))
    follows.start()
    assert tf.estimator.train_and_evaluate(chief, *specs) is None
    follows.join(60)
    assert not follows.is_alive()
    assert exporter.exports == [(6, False)]


def test_an_evaluator_takes_a_training_of_before_for_the_last_one_after_a_while(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("TF_CONFIG", CHIEF)
    exporter = Noting()
    specs = (
        tf.estimator.TrainSpec(data(3)),
        tf.estimator.EvalSpec(data(), exporters=exporter, start_delay_secs=0, throttle_secs=0),
    )
    tf.estimator.train_and_evaluate(_estimator(tmp_path), *specs)
    monkeypatch.setenv("TF_CONFIG", EVALUATOR)
    module = sys.modules[
        "frontends.tf.estimator.train_and_evaluate"
    ]  # the package has a function of its name
    monkeypatch.setattr(module, "_FORMER_SECONDS", 0.5)
    tf.estimator.train_and_evaluate(_estimator(tmp_path), *specs)
    assert exporter.exports == [(6, False)]


def test_workers_that_would_train_models_of_their_own_are_an_error(tmp_path, monkeypatch):
    config = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(ValueError, match=r"names 2 workers, .* would train a model of its own"):
        tf.estimator.train_and_evaluate(
            _estimator(tmp_path), tf.estimator.TrainSpec(data()), tf.estimator.EvalSpec(data())
        )
