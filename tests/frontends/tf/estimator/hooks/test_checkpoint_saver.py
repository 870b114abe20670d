"""The hook that saves checkpoints."""

import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import data, linear


class Noting(tf.estimator.CheckpointSaverListener):
    def __init__(self, stops_at=None):
        self.calls, self.stops_at = [], stops_at

    def begin(self):
        self.calls.append("begin")

    def before_save(self, session, global_step_value):
        self.calls.append(("before", global_step_value))

    def after_save(self, session, global_step_value):
        self.calls.append(("after", global_step_value))
        return global_step_value == self.stops_at

    def end(self, session, global_step_value):
        self.calls.append(("end", global_step_value))


def _train(folder, listener):
    config = tf.estimator.RunConfig(save_checkpoints_steps=2)
    estimator = tf.estimator.Estimator(linear, folder, config, {"rate": 0.1})
    return estimator.train(data(100), max_steps=5, saving_listeners=[listener])


def test_it_saves_before_the_first_step_between_and_after_the_last(tmp_path):
    listener = Noting()
    _train(tmp_path, listener)
    saved = [(when, step) for step in (0, 2, 4, 5) for when in ("before", "after")]
    assert listener.calls == ["begin", *saved, ("end", 5)]


def test_a_listener_can_end_the_training(tmp_path):
    listener = Noting(stops_at=2)
    assert _train(tmp_path, listener).get_variable_value("global_step") == 2
    assert listener.calls[-2:] == [("after", 2), ("end", 2)]


def test_an_interval_is_given(tmp_path):
    with pytest.raises(ValueError, match="Either every_secs or every_steps"):
        tf.estimator.CheckpointSaverHook(tmp_path)
