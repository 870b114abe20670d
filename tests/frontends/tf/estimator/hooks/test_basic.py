"""Hooks that scripts use."""

import logging

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import by_hand, data, linear


def _train(folder, *hooks, **limits):
    estimator = tf.estimator.Estimator(
        linear, folder, tf.estimator.RunConfig(log_step_count_steps=None), {"rate": 0.1}
    )
    return estimator.train(data(100), hooks=list(hooks), **limits)


def test_training_stops_at_a_step(tmp_path):
    step = _train(tmp_path, tf.estimator.StopAtStepHook(num_steps=3))
    assert step.get_variable_value("global_step") == 3
    assert (
        _train(tmp_path, tf.estimator.StopAtStepHook(last_step=5)).get_variable_value("global_step")
        == 5
    )
    with pytest.raises(ValueError, match="One of num_steps or last_step"):
        tf.estimator.StopAtStepHook()


def test_tensors_are_logged(tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    hooks = [
        tf.estimator.LoggingTensorHook({"bias": "dense/bias:0"}, every_n_iter=2),
        tf.estimator.LoggingTensorHook(
            ["global_step"], at_end=True, formatter=lambda values: f"end: {values['global_step']}"
        ),
    ]
    _train(tmp_path, *hooks, steps=5)
    lines = [one.getMessage() for one in caplog.records if one.module == "basic"]
    biases = [float(line.removeprefix("bias = [").partition("]")[0]) for line in lines[:-1]]
    assert biases == pytest.approx([by_hand(steps)[1] for steps in (0, 2, 4)], rel=1e-5)
    assert lines[-1] == "end: 4"


def test_logged_numbers_look_as_in_tensorflow(caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    hook = tf.estimator.LoggingTensorHook(["x", "loss"], every_n_iter=1)
    found = {"x": np.array([1e-8, 1], np.float32), "loss": np.float32(0.1)}
    hook.begin()
    hook.before_run(None)
    hook.after_run(None, tf.estimator.SessionRunValues(found))
    assert caplog.messages == ["x = [0.00000001 1.        ], loss = 0.1"]


def test_logged_names_are_in_order_but_for_those_of_a_list(caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    found = tf.estimator.SessionRunValues({"b": 1, "a": 2})
    for tensors in ({"b": "b", "a": "a"}, ["b", "a"]):
        hook = tf.estimator.LoggingTensorHook(tensors, every_n_iter=1)
        hook.begin()
        asked = hook.before_run(None).fetches
        hook.after_run(None, found._replace(results={name: found.results[name] for name in asked}))
    assert caplog.messages == ["a = 2, b = 1", "b = 1, a = 2"]


def test_the_last_values_are_logged_with_the_time_since_others(tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    hook = tf.estimator.LoggingTensorHook(["global_step"], every_n_iter=2, at_end=True)
    for _ in range(2):  # it begins anew
        caplog.clear()
        _train(tmp_path, hook, steps=3)
        lines = [one.getMessage() for one in caplog.records if one.module == "basic"]
        assert [" sec)" in line for line in lines] == [False, True, True]


def test_hooks_are_derived_from_it(tmp_path):
    class Noting(tf.estimator.LoggingTensorHook):
        """As the hook of TensorFlow's official models that writes metrics."""

        def begin(self):
            super().begin()
            self._step = tf.compat.v1.train.get_global_step()
            self._current_tensors[self._step.name] = self._step
            self.noted = []

        def after_run(self, run_context, run_values):
            if self._should_trigger:
                self._timer.update_last_triggered_step(self._iter_count)
                found = run_values.results
                self.noted.append([int(found[self._step.name]), *map(found.get, self._tag_order)])
            self._iter_count += 1

    hook = Noting(["dense/bias"], every_n_iter=2)
    e = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.0})
    e.train(data(2), hooks=[hook])
    assert hook.noted == [[0, 0.0], [2, 0.0]]


def test_logging_needs_an_interval():
    for given in ({}, {"every_n_iter": 1, "every_n_secs": 1}, {"every_n_iter": 0}):
        with pytest.raises(ValueError, match="every_n"):
            tf.estimator.LoggingTensorHook(["a"], **given)


@pytest.mark.parametrize("fails", [True, False])
def test_a_loss_that_is_no_number_ends_the_training(tmp_path, fails):
    def hooks(loss):
        return [tf.estimator.NanTensorHook(loss * jnp.nan, fail_on_nan_loss=fails)]

    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1, "hooks": hooks})
    if fails:
        with pytest.raises(
            tf.estimator.NanLossDuringTrainingError, match="NaN loss during training"
        ):
            estimator.train(data(100))
    else:
        assert estimator.train(data(100)).get_variable_value("global_step") == 1


def test_the_speed_is_logged_and_written(tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    hook = tf.estimator.StepCounterHook(every_n_steps=2, output_dir=tmp_path / "events")
    _train(tmp_path, hook, steps=5)
    lines = [one.getMessage() for one in caplog.records if one.module == "basic"]
    assert len(lines) == 2
    assert all(line.startswith("global_step/sec: ") for line in lines)
    assert list((tmp_path / "events").iterdir())
