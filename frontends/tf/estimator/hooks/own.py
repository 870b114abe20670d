"""Hooks that estimators have of their own, and no script makes."""

import math
import time
from typing import Any

import numpy as np

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.events import event_writer
from frontends.tf.estimator.hooks.basic import NanLossDuringTrainingError
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.estimator.hooks.summary_saver import DueHook
from frontends.tf.estimator.hooks.timer import SecondOrStepTimer


def check_loss(session: Any) -> float:
    """Checks that training has not diverged; returns the loss of the last step.

    Raises:
        NanLossDuringTrainingError: the loss is no number.
        InvalidArgumentError: the same, as labels are out of range.
    """
    loss = session.loss()
    if math.isnan(loss):
        session.check_labels()
        logging.error("Model diverged with loss = NaN.")
        raise NanLossDuringTrainingError
    return loss


class LossHook(SessionRunHook):
    """Logs the loss every so many steps, and checks it: to look at each would make every step wait."""

    def __init__(self, every: int) -> None:
        """Says how often."""
        self._every, self._count = every, 0
        self._step, self._time = 0, 0.0

    def before_run(self, run_context: SessionRunContext) -> None:
        """See `SessionRunHook.before_run`."""
        self._step = run_context.session.global_step

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        if self._count % self._every == 0:
            loss, now = check_loss(run_context.session), time.monotonic()
            passed = f" ({now - self._time:.3f} sec)" if self._count else ""
            logging.info(f"loss = {np.float32(loss)!s}, step = {self._step}{passed}")
            self._time = now
        self._count += 1


class SummariesHook(DueHook):
    """Writes the summaries of the model function, and the loss; all workers compute that, and one writes."""

    def __init__(self, every: int, folder: str | None) -> None:
        """Says how often, and where; None writes nothing."""
        super().__init__(SecondOrStepTimer(every_steps=every))
        self._folder = folder

    def _prepare(self, session: Any) -> None:
        session.ask_summaries()

    def _act(self, session: Any) -> None:
        loss = {"loss": session.loss()}
        writer = None if self._folder is None else event_writer(self._folder)
        if writer is not None:
            writer.add_summary(session.summary(values=loss), session.global_step)

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        writer = None if self._folder is None else event_writer(self._folder)
        if writer is not None:
            writer.flush()


class StopAfterHook(SessionRunHook):
    """Stops an evaluation after so many steps, and logs a tenth of them."""

    def __init__(self, steps: int) -> None:
        """Says after how many."""
        self._steps, self._done = steps, 0

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        self._done += 1
        if self._done % max(1, self._steps // 10) == 0 or self._done == self._steps:
            logging.info(f"Evaluation [{self._done}/{self._steps}]")
        if self._done >= self._steps:
            run_context.request_stop()
