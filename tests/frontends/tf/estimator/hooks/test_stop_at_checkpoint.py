"""Workers that stop when the chief has saved."""

from types import SimpleNamespace

import pytest

from frontends import tf
from frontends.tf.estimator.hooks import SessionRunArgs, SessionRunContext, SessionRunValues

make = tf.estimator.experimental.make_stop_at_checkpoint_step_hook


def test_the_chief_stops_at_the_step():
    estimator = SimpleNamespace(config=SimpleNamespace(is_chief=True))
    assert isinstance(make(estimator, 5), tf.estimator.StopAtStepHook)
    with pytest.raises(ValueError, match="last_step must be specified"):
        make(estimator, None)


def test_others_wait_for_its_checkpoint(monkeypatch):
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    saved = iter([3, 5])
    estimator = SimpleNamespace(
        config=SimpleNamespace(is_chief=False), latest_step=lambda: next(saved)
    )
    hook = make(estimator, 5, wait_after_file_check_secs=7)
    stops = []
    for step in (4, 5, 6):
        session = SimpleNamespace(global_step=step)
        context = SessionRunContext(SessionRunArgs(None), session)
        hook.after_run(context, SessionRunValues(None))
        stops.append(context.stop_requested)
    assert stops == [False, False, True]
    assert slept == [7]
