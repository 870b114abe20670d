"""Hooks that estimators have of their own."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.hooks.own import LossHook, StopAfterHook, check_loss


def _run(hook, losses):
    """Calls a hook around steps of the given losses; returns after how many it stops."""
    session = SimpleNamespace(global_step=5, loss=None, check_labels=lambda: None)
    for done, loss in enumerate(losses, 1):
        context = tf.estimator.SessionRunContext(None, session)
        hook.before_run(context)
        session.loss = lambda loss=loss: loss
        session.global_step += 1
        hook.after_run(context, tf.estimator.SessionRunValues(None))
        if context.stop_requested:
            return done
    return None


def test_a_loss_that_is_no_number_is_an_error():
    session = SimpleNamespace(loss=lambda: np.inf, check_labels=lambda: None)
    assert check_loss(session) == np.inf
    session.loss = lambda: np.nan
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        check_loss(session)


def test_labels_out_of_range_are_why_a_loss_is_no_number():
    def check_labels():
        raise tf.errors.InvalidArgumentError("wrong labels")

    session = SimpleNamespace(loss=lambda: np.nan, check_labels=check_labels)
    with pytest.raises(ValueError, match="wrong labels"):
        check_loss(session)


def test_the_loss_is_logged_and_checked_every_so_many_steps(caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        _run(LossHook(2), [1.5, np.nan, 2.5, 3.5, np.nan])
    first, second, _ = (one.getMessage() for one in caplog.records)
    assert first == "loss = 1.5, step = 5"
    assert second.startswith("loss = 2.5, step = 7 (")


@pytest.mark.parametrize(("steps", "logged"), [(3, [1, 2, 3]), (25, [*range(2, 25, 2), 25])])
def test_an_evaluation_ends_after_its_steps(steps, logged, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    assert _run(StopAfterHook(steps), [0.0] * 30) == steps
    lines = [one.getMessage() for one in caplog.records]
    assert lines == [f"Evaluation [{one}/{steps}]" for one in logged]
