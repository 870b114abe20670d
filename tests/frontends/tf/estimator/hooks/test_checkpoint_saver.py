"""The hook that saves checkpoints."""

import logging

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
    with pytest.raises(ValueError, match="both saver and scaffold"):
        tf.estimator.CheckpointSaverHook(tmp_path, 1, saver=object(), scaffold=object())


def test_it_saves_in_its_folder_under_its_name(tmp_path):
    hook = tf.estimator.CheckpointSaverHook(
        tmp_path / "other",
        save_steps=2,
        saver=tf.train.Saver(max_to_keep=2),
        checkpoint_basename="other.ckpt",
    )
    config = tf.estimator.RunConfig(save_checkpoints_steps=1)
    estimator = tf.estimator.Estimator(linear, tmp_path / "own", config, {"rate": 0.1})
    estimator.train(data(100), [hook], steps=5)
    assert estimator.latest_checkpoint() is None
    state = tf.train.get_checkpoint_state(tmp_path / "other")
    paths = [str(tmp_path / "other" / f"other.ckpt-{step}") for step in (4, 5)]
    assert list(state.all_model_checkpoint_paths) == paths
    found = estimator.evaluate(data(), checkpoint_path=paths[-1])
    assert found["global_step"] == 5


def test_of_several_processes_only_the_chief_tells_of_it(tmp_path, caplog):
    class Session:
        is_chief, global_step, training_runs = False, 3, 3

        def checkpoints_in(self, folder, name, saver):
            return self

        def save(self, step):
            saved.append(step)

    saved = []
    caplog.set_level(logging.INFO, "tensorflow")
    hook = tf.estimator.CheckpointSaverHook(tmp_path, save_steps=2)
    hook.after_create_session(Session(), None)
    assert (saved, caplog.messages) == ([3], [])
