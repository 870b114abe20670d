"""Timers of hooks."""

import pytest

from frontends import tf
from frontends.tf.estimator.hooks import timer as module
from frontends.tf.estimator.hooks.timer import NeverTriggerTimer, SecondOrStepTimer


def test_steps():
    timer = SecondOrStepTimer(every_steps=3)
    triggered = []
    for step in range(8):
        if timer.should_trigger_for_step(step):
            timer.update_last_triggered_step(step)
            triggered.append(step)
    assert triggered == [0, 3, 6]
    assert timer.last_triggered_step() == 6
    assert not timer.should_trigger_for_step(6)


def test_seconds(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    timer = SecondOrStepTimer(every_secs=2.0)
    assert timer.update_last_triggered_step(0) == (None, None)
    now[0] = 1.0
    assert not timer.should_trigger_for_step(1)
    now[0] = 2.5
    assert timer.should_trigger_for_step(5)
    assert timer.update_last_triggered_step(5) == (2.5, 5)


def test_one_interval_is_given():
    for given in ({}, {"every_secs": 1, "every_steps": 1}):
        with pytest.raises(ValueError, match="Either every_secs or every_steps"):
            SecondOrStepTimer(**given)
    assert tf.estimator


def test_the_next_step():
    timer = SecondOrStepTimer(every_steps=3)
    assert timer.next_step() is None
    timer.update_last_triggered_step(4)
    assert timer.next_step() == 7
    timer = SecondOrStepTimer(every_secs=3)
    timer.update_last_triggered_step(4)
    assert timer.next_step() is None


def test_one_that_never_triggers():
    timer = NeverTriggerTimer()
    timer.reset()
    assert not timer.should_trigger_for_step(3)
    assert timer.update_last_triggered_step(3) == (None, None)
    assert timer.last_triggered_step() is None
