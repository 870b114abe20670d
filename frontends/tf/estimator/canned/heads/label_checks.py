"""The hook of heads that ends a training with wrong labels, which only a running step can find.

To read what a step has found at once would make each step wait for its end. So the hook reads that of the step before, and
raises one step later.
"""

from collections.abc import Sequence
from typing import Any

from frontends.tf.errors import InvalidArgumentError
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.graph import LabelCheck


class LabelCheckHook(SessionRunHook):
    """Raises an error where a step found wrong labels."""

    def __init__(self, checks: Sequence[LabelCheck]) -> None:
        """Says what to look at.

        Args:
            checks: of the model function.
        """
        self._checks = list(checks)
        self._last: list[Any] = []

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        self._raise_found()
        self._last = [run_context.session.output(check.found) for check in self._checks]

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        self._raise_found()

    def _raise_found(self) -> None:
        for ranges, check in zip(self._last, self._checks, strict=False):
            problem = check.problem(ranges)
            if problem is not None:
                raise InvalidArgumentError(problem)
        self._last = []
