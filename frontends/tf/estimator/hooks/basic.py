"""Hooks that scripts use, and that estimators use themselves."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.events import event_writer, write_values
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.estimator.hooks.timer import NeverTriggerTimer, SecondOrStepTimer


class StopAtStepHook(SessionRunHook):
    """Stops at a step, or after a number of them.

    Attributes:
        last_step: the step; None as long as it is not known.

    Source: `tf.compat.v1.train.StopAtStepHook`.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        """Says when to stop.

        Args:
            num_steps: after how many steps of this run.
            last_step: at which global step.

        Raises:
            ValueError: both are given, or none.
        """
        if (num_steps is None) == (last_step is None):
            raise ValueError("One of num_steps or last_step must be specified, and not both.")
        self._num_steps, self.last_step = num_steps, last_step

    def after_create_session(self, session: Any, coord: Any) -> None:
        """See `SessionRunHook.after_create_session`."""
        if self.last_step is None and self._num_steps is not None:
            self.last_step = session.global_step + self._num_steps

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        if self.last_step is not None and run_context.session.global_step >= self.last_step:
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many steps or seconds.

    Scripts derive hooks from it, so its attributes have TensorFlow's names, such as `_current_tensors`.

    Source: `tf.compat.v1.train.LoggingTensorHook`.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Sequence[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
    ) -> None:
        """Says what to log, and when.

        Args:
            tensors: names of tensors, or tensors, by what to call them; or a list of these.
            every_n_iter: after how many steps.
            every_n_secs: after how many seconds.
            at_end: whether to log after the last step instead, or too.
            formatter: makes the text of the values.

        Raises:
            ValueError: both intervals are given; or none, and it is not to log at the end.
        """
        if every_n_iter is not None and every_n_secs is not None:
            raise ValueError("exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is None and every_n_secs is None and not at_end:
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        # What a mapping has is logged in alphabetical order, and a list in its own.
        self._tensors: Mapping[str, Any] = (
            dict(sorted(tensors.items()))
            if isinstance(tensors, Mapping)
            else {_name(one): one for one in tensors}
        )
        self._tag_order = list(self._tensors)
        only_at_end = every_n_iter is None and every_n_secs is None
        self._timer: SecondOrStepTimer | NeverTriggerTimer = (
            NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        )
        self._log_at_end, self._formatter = at_end, formatter
        self._iter_count, self._should_trigger = 0, False
        self._current_tensors: dict[str, Any] = {}
        self._last: dict[str, Any] = {}

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        self._iter_count = 0
        self._current_tensors = dict(self._tensors)
        self._timer.reset()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """See `SessionRunHook.before_run`."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        asks = self._should_trigger or self._log_at_end
        return SessionRunArgs(dict(self._current_tensors)) if asks else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        if run_values.results is not None:
            self._last = run_values.results
        if self._should_trigger:
            self._log_tensors(self._last)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        if self._log_at_end and self._last:
            self._log_tensors(self._last)

    def _log_tensors(self, tensor_values: Mapping[str, Any]) -> None:
        """Logs values, and how long ago others were logged."""
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        if self._formatter is not None:
            logging.info(self._formatter(dict(tensor_values)))
            return
        with np.printoptions(suppress=True):  # as TensorFlow shows them
            text = ", ".join(f"{name} = {tensor_values[name]!s}" for name in self._tag_order)
        logging.info(text if seconds is None else f"{text} ({seconds:.3f} sec)")


class NanLossDuringTrainingError(RuntimeError):
    """The loss is no number any more.

    Source: `tf.estimator.NanLossDuringTrainingError`.
    """

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops, or fails, when the loss is no number any more.

    What differs here: estimators look at the loss when they log it, as to look at each would make every step wait.

    Source: `tf.compat.v1.train.NanTensorHook`.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        """Says what to look at, and what to do."""
        self._tensor, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """See `SessionRunHook.before_run`."""
        return SessionRunArgs(self._tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        if np.isnan(run_values.results).any():
            if self._fails:
                run_context.session.check_labels()
                logging.error("Model diverged with loss = NaN.")
                raise NanLossDuringTrainingError
            logging.warning("Model diverged with loss = NaN.")
            run_context.request_stop()


class StepCounterHook(SessionRunHook):
    """Logs how many steps are done in a second, and writes it to the events.

    Source: `tf.compat.v1.train.StepCounterHook`.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
    ) -> None:
        """Says how often, and where to write events."""
        self._timer = SecondOrStepTimer(
            every_n_secs, None if every_n_secs is not None else every_n_steps
        )
        self._folder, self._writer = output_dir, summary_writer

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        if self._writer is None and self._folder is not None:
            self._writer = event_writer(self._folder)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        step = run_context.session.global_step
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds and steps:
                self._tell(steps / seconds, step)

    def _tell(self, speed: float, step: int) -> None:
        logging.info(f"global_step/sec: {speed:g}")
        write_values(self._writer, {"global_step/sec": speed}, step)

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        if self._writer is not None:
            self._writer.flush()


def _name(tensor: Any) -> str:
    return tensor if isinstance(tensor, str) else getattr(tensor, "name", f"tensor {id(tensor)}")
