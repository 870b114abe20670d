"""The hook that lets workers of parameter servers begin one after the other."""

import time

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.hooks.session_run_hook import SessionRunContext, SessionRunHook
from spmd.cluster import read_tf_config

_POLL_SECONDS = 0.5


class GlobalStepWaiterHook(SessionRunHook):
    """Waits, before the first step, until others have trained so many steps.

    What differs here: it waits only where there are parameter servers, as elsewhere nobody trains in the meantime.

    Source: `tf.compat.v1.train.GlobalStepWaiterHook`.
    """

    def __init__(self, wait_until_step: int) -> None:
        """Says for which global step to wait."""
        self._until = wait_until_step
        self._has_waited = False

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        self._has_waited = self._until <= 0 or "ps" not in read_tf_config().jobs

    def before_run(self, run_context: SessionRunContext) -> None:
        """See `SessionRunHook.before_run`."""
        if self._has_waited:
            return
        self._has_waited = True
        logging.info(f"Waiting for global step {self._until} before starting training.")
        while run_context.session.read_global_step() < self._until:
            time.sleep(_POLL_SECONDS)
