"""The hook that writes what a model function has collected for TensorBoard."""

import abc
from collections.abc import Sequence
from typing import Any

from frontends.tf.estimator.events import event_writer
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.estimator.hooks.timer import SecondOrStepTimer
from frontends.tf.summary.collected import Summary
from spmd.typing import StrPath


class DueHook(SessionRunHook):
    """Does something at the first step, and whenever a timer triggers for the next one; a base."""

    def __init__(self, timer: SecondOrStepTimer) -> None:
        """Takes the timer."""
        self._timer = timer
        self._next_step: int | None = None
        self._is_due = False

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        self._next_step = None

    def before_run(self, run_context: SessionRunContext) -> None:
        """See `SessionRunHook.before_run`."""
        step = self._next_step
        self._is_due = step is None or self._timer.should_trigger_for_step(step)
        if self._is_due:
            self._prepare(run_context.session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        session = run_context.session
        if self._is_due:
            self._timer.update_last_triggered_step(session.global_step)
            self._act(session)
        self._next_step = session.global_step + 1

    @abc.abstractmethod
    def _prepare(self, session: Any) -> None:
        """Says, before a step, what it needs of it."""

    @abc.abstractmethod
    def _act(self, session: Any) -> None:
        """Does it, after a step."""


class SummarySaverHook(DueHook):
    """Writes summaries of the model function every so many steps or seconds, the first one after the first step.

    Source: `tf.compat.v1.train.SummarySaverHook`.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: StrPath | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        """Says what to write, and how often.

        Args:
            save_steps: after how many steps.
            save_secs: after how many seconds.
            output_dir: folder of the event file.
            summary_writer: a `tf.compat.v1.summary.FileWriter`, in place of the folder.
            scaffold: stands for all summaries of the collection `tf.GraphKeys.SUMMARIES`.
            summary_op: what functions of `tf.compat.v1.summary` returned, or a list of it, such as `merge_all()`.

        Raises:
            ValueError: both intervals are given, or none; or both, or none, of `scaffold` and `summary_op`.
        """
        super().__init__(SecondOrStepTimer(save_secs, save_steps))
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._folder, self._writer = output_dir, summary_writer
        self._summaries: Any = summary_op

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        super().begin()
        if self._writer is None and self._folder is not None:
            self._writer = event_writer(self._folder)

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        if self._writer is not None:
            self._writer.flush()

    def _prepare(self, session: Any) -> None:
        session.ask_summaries(_names(self._summaries))

    def _act(self, session: Any) -> None:
        if self._writer is not None:
            made = session.summary(_names(self._summaries))
            self._writer.add_summary(made, session.global_step)


def _names(summaries: Any) -> list[str] | None:
    """Names the summaries that are meant; None means all of the collection."""
    if summaries is None:
        return None
    found = [summaries] if isinstance(summaries, Summary) else summaries
    if not isinstance(found, Sequence):
        raise TypeError(
            f"summary_op must be a summary of the model function, or a list of them, got {summaries!r}. Write "
            "summary_op=tf.summary.merge_all()."
        )
    flat: list[str] = []
    for one in found:
        flat += [one.name] if isinstance(one, Summary) else _names(one) or []
    return flat
