"""The hook that stops a worker when the chief has saved the last step."""

import time
from typing import Any

from frontends.tf.estimator.hooks.basic import StopAtStepHook
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class StopAtCheckpointStepHook(SessionRunHook):
    """Stops when a checkpoint of the last step has been written."""

    def __init__(self, estimator: Any, last_step: int, wait_after_file_check_secs: float) -> None:
        """Says when to stop, and how long to wait until the folder is looked at again."""
        self._estimator, self._last = estimator, last_step
        self._seconds = wait_after_file_check_secs

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        if run_context.session.global_step < self._last:
            return
        if self._estimator.latest_step() >= self._last:
            run_context.request_stop()
        else:
            time.sleep(self._seconds)


def make_stop_at_checkpoint_step_hook(
    estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """Makes a hook that stops the chief at a step, and other workers when its checkpoint is there.

    Args:
        estimator: what is trained.
        last_step: the global step.
        wait_after_file_check_secs: how long to wait between two looks at the folder.

    Raises:
        ValueError: there is no last step.

    Source: `tf.estimator.experimental.make_stop_at_checkpoint_step_hook`.
    """
    if last_step is None:
        raise ValueError("last_step must be specified.")
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return StopAtCheckpointStepHook(estimator, last_step, wait_after_file_check_secs)
