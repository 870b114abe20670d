"""Checks of labels that only a running step can make: what a step finds is an output of it, which a hook reads.

To read it at once would make each step wait for its end. So the hook reads that of the step before, and raises one step later.
"""

from typing import Any

import numpy as np

from frontends.tf.errors import InvalidArgumentError
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.graph import current_graph

_KEY = "label checks"


def note_check(is_wrong: Any, message: str) -> None:
    """Takes note of a check in the model function that is traced; elsewhere nobody would look at it.

    Args:
        is_wrong: a truth value of the step.
        message: of the error.
    """
    graph = current_graph()
    if graph is not None:
        graph.collections[_KEY].append((is_wrong, message))


def hooks_of_checks() -> list[SessionRunHook]:
    """Returns the hook that looks at the checks of the model function so far, if there are any."""
    graph = current_graph()
    found = [] if graph is None else graph.collections.pop(_KEY, [])
    return [LabelCheckHook(found)] if found else []


class LabelCheckHook(SessionRunHook):
    """Raises an error where a step found wrong labels."""

    def __init__(self, checks: list[tuple[Any, str]]) -> None:
        """Says what to look at.

        Args:
            checks: truth values of the step, each with a message.
        """
        self.flags = [is_wrong for is_wrong, _ in checks]
        self._messages = [message for _, message in checks]
        self._last: list[Any] = []

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        self._raise_found()
        self._last = [run_context.session.output(flag) for flag in self.flags]

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        self._raise_found()

    def _raise_found(self) -> None:
        for values, message in zip(self._last, self._messages, strict=False):
            if any(np.any(np.asarray(value)) for value in values):
                raise InvalidArgumentError(
                    f"{message}. Check the labels that input_fn gives: classes are numbers from 0 on, or texts of the "
                    "label_vocabulary.",
                )
        self._last = []
