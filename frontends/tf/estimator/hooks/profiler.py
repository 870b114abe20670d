"""The hook that profiles steps."""

import contextlib
from typing import Any

import jax

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.estimator.hooks.timer import SecondOrStepTimer
from spmd.files import written_here
from spmd.typing import StrPath


class ProfilerHook(SessionRunHook):
    """Traces a step every so many steps or seconds, but not the first ones, for TensorBoard's profiler.

    What differs here: it is a trace of `jax.profiler`, in `plugins/profile` of the folder, and no `timeline-STEP.json`. A step
    that is traced is waited for.

    Source: `tf.compat.v1.train.ProfilerHook`.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: StrPath = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        """Says how often, and where to.

        Args:
            save_steps: after how many steps.
            save_secs: after how many seconds.
            output_dir: the folder, or its URL in an object store; by default the present one.
            show_dataflow: accepted, and not used.
            show_memory: accepted, and not used.

        Raises:
            ValueError: both intervals are given, or none.
        """
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._folder = output_dir or "."
        self._next_step: int | None = None
        # Open while a trace is under way; copies it to the folder, if that is in a store.
        self._trace: contextlib.ExitStack | None = None

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        self._next_step = None

    def before_run(self, run_context: SessionRunContext) -> None:
        """See `SessionRunHook.before_run`."""
        step = self._next_step
        if step is None or not self._timer.should_trigger_for_step(step):
            return
        with contextlib.ExitStack() as trace:
            folder = trace.enter_context(written_here(self._folder))
            try:
                jax.profiler.start_trace(folder)
            except RuntimeError as error:  # another trace is under way
                logging.warning(f"The step {step} is not profiled: {error}")
                self._timer.update_last_triggered_step(step)
                return
            trace.callback(jax.profiler.stop_trace)
            self._trace = trace.pop_all()

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        step = run_context.session.global_step
        if self._next_step is None:
            self._timer.update_last_triggered_step(step - 1)
        if self._trace is not None:
            run_context.session.read_global_step()  # which waits for the step
            self._stop()
            self._timer.update_last_triggered_step(step)
            logging.info(f"Saving timeline for {step} into '{self._folder}'.")
        self._next_step = step + 1

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        self._stop()

    def _stop(self) -> None:
        if self._trace is not None:
            trace, self._trace = self._trace, None
            trace.close()
