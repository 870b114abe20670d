"""The hook that saves checkpoints."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.estimator.hooks.timer import SecondOrStepTimer
from spmd.typing import StrPath


class CheckpointSaverListener:
    """What is called around saving; a base to override.

    Source: `tf.compat.v1.train.CheckpointSaverListener`.
    """

    def begin(self) -> None:
        """Called once, before the first step."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called when it is written; True ends the training."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called once, after the last step."""


class CheckpointSaverHook(SessionRunHook):
    """Saves before the first step, every so many steps or seconds, and after the last.

    Source: `tf.compat.v1.train.CheckpointSaverHook`.
    """

    def __init__(
        self,
        checkpoint_dir: StrPath,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: object = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: object = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
    ) -> None:
        """Says how often.

        Args:
            checkpoint_dir: where to save. With another folder than the estimator's, that one gets no checkpoints, as in
                TensorFlow.
            save_secs: after how many seconds.
            save_steps: after how many steps.
            saver: a `tf.train.Saver`, which says how many checkpoints stay; None takes what the estimator says.
            checkpoint_basename: what names of checkpoints begin with.
            scaffold: a `tf.train.Scaffold` that has the saver.
            listeners: called around saving.
            save_graph_def: accepted, and not used: there is no graph.

        Raises:
            ValueError: both intervals are given, or none; or a saver and a scaffold.
        """
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._folder, self._name = os.fspath(checkpoint_dir), checkpoint_basename
        self._saver = getattr(scaffold, "saver", saver)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._by_clock = save_secs is not None
        self._listeners = list(listeners or ())
        self._checkpoints: Any = None
        # What has been saved. Not the step's number, which a train_op need not move.
        self._saved_runs = 0

    def listen(self, listeners: Sequence[CheckpointSaverListener]) -> None:
        """Adds listeners that it does not have yet."""
        self._listeners += [one for one in listeners if one not in self._listeners]

    def next_step(self) -> int | None:
        """Returns the step after which it saves next; None if that depends on the time."""
        return self._timer.next_step()

    def is_due(self, step: int) -> bool:
        """Tells whether it saves after a step."""
        return self._timer.should_trigger_for_step(step)

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """See `SessionRunHook.after_create_session`."""
        # Only now is it known whether this process is the one that tells of it.
        _tell(session, "Create CheckpointSaverHook.")
        self._checkpoints = session.checkpoints_in(self._folder, self._name, self._saver)
        step = session.global_step
        self._timer.update_last_triggered_step(step)
        self._save(session, step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        session = run_context.session
        step = session.global_step
        is_due = self._timer.should_trigger_for_step(step)
        if session.agrees(is_due) if self._by_clock else is_due:
            self._timer.update_last_triggered_step(step)
            if self._save(session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        step = session.read_global_step()
        if session.training_runs != self._saved_runs:
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves; tells whether a listener wants the training to end."""
        _tell(session, f"Calling checkpoint listeners before saving checkpoint {step}...")
        for listener in self._listeners:
            listener.before_save(session, step)
        path = os.path.join(self._folder, self._name)
        _tell(session, f"Saving checkpoints for {step} into {path}.")
        self._checkpoints.save(step)
        self._saved_runs = session.training_runs
        _tell(session, f"Calling checkpoint listeners after saving checkpoint {step}...")
        stops = False
        for listener in self._listeners:
            if listener.after_save(session, step) is True:
                _tell(
                    session,
                    "A CheckpointSaverListener requested that training be stopped. "
                    f"listener: {listener}",
                )
                stops = True
        return stops


def _tell(session: Any, line: str) -> None:
    """Logs a line in one of the processes that save together."""
    if session.is_chief:
        logging.info(line)


def savers_among(hooks: Iterable[object]) -> list[CheckpointSaverHook]:
    """Returns those of some hooks that save."""
    return [hook for hook in hooks if isinstance(hook, CheckpointSaverHook)]
