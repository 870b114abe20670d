"""The hook that evaluates while training, without checkpoints."""

from collections.abc import Callable, Sequence
from typing import Any

from frontends.tf.estimator.estimator_spec import check_hooks
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates before the first step, every so many steps, and after the last one, with the variables as they are.

    Source: `tf.estimator.experimental.InMemoryEvaluatorHook`.
    """

    def __init__(
        self,
        estimator: Any,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        """Says what to evaluate on, and how often.

        Args:
            estimator: what is trained.
            input_fn: see `Estimator.evaluate`.
            steps: likewise.
            hooks: likewise.
            name: likewise.
            every_n_iter: after how many steps.

        Raises:
            ValueError: `every_n_iter` is not positive, or several processes train.
        """
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError(
                "InMemoryEvaluator supports only single machine (aka Local) setting. In a cluster start a task `evaluator`, and "
                "call tf.estimator.train_and_evaluate."
            )
        check_hooks(hooks or ())
        self._estimator, self._every = estimator, every_n_iter
        self._arguments = (input_fn, steps, tuple(hooks or ()), name)
        self._steps = 0

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        self._steps = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        """See `SessionRunHook.after_create_session`."""
        self._evaluate(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        self._steps += 1
        if self._steps % self._every == 0:
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        self._evaluate(session)
        self._estimator.forget_evaluations()

    def _evaluate(self, session: Any) -> None:
        self._estimator.evaluate_values(session.saved_values(), *self._arguments)
