"""Hooks: what is called around the steps of an estimator."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What a hook wants to have of a step.

    Attributes:
        fetches: tensors of the model function, their names, variables, or a structure of these.
        feed_dict: must be None: there are no placeholders.
        options: accepted, and not used.

    Source: `tf.compat.v1.train.SessionRunArgs`.
    """

    fetches: Any
    feed_dict: Mapping[Any, Any] | None = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a hook gets of a step.

    Attributes:
        results: arrays of NumPy in the structure of the fetches.
        options: what was asked for.
        run_metadata: None.

    Source: `tf.compat.v1.train.SessionRunValues`.
    """

    results: Any
    options: Any = None
    run_metadata: Any = None


class SessionRunContext:
    """What a hook can do while a step runs.

    Attributes:
        original_args: what the estimator itself fetches.
        session: what reads variables: `session.run(variable)`.

    Source: `tf.compat.v1.train.SessionRunContext`.
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        """Begins a step."""
        self.original_args, self.session = original_args, session
        self._stops = False

    @property
    def stop_requested(self) -> bool:
        """Whether a hook wants this step to be the last."""
        return self._stops

    def request_stop(self) -> None:
        """Makes this step the last one."""
        self._stops = True


class SessionRunHook:
    """What is called around the steps of an estimator; a base to override.

    Source: `tf.compat.v1.train.SessionRunHook`.
    """

    def begin(self) -> None:
        """Called once before the first step; the graph of the model function is the default."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when variables have their values.

        Args:
            session: what reads variables: `session.run(variable)`.
            coord: None.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each step; returns what the hook wants to have of it."""

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each step, with what `before_run` asked for."""

    def end(self, session: Any) -> None:
        """Called once after the last step, unless an error ended the run."""
