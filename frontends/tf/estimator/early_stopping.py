"""Hooks that stop training by what evaluations have found."""

import operator
from collections.abc import Callable
from typing import Any

from frontends.tf.compat.v1 import logging
from frontends.tf.compat.v1.train.summary_iterator import summary_iterator
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from frontends.tf.estimator.hooks.timer import SecondOrStepTimer
from spmd.files import path_of
from spmd.typing import StrPath


class EarlyStoppingHook(SessionRunHook):
    """Stops when a function says so. Where several processes train together, the first one's answer is everyone's."""

    def __init__(self, should_stop_fn: Callable[[], bool], timer: SecondOrStepTimer) -> None:
        """Says who decides, and how often."""
        self._should_stop, self._timer = should_stop_fn, timer
        self._wants_to = False

    def begin(self) -> None:
        """See `SessionRunHook.begin`."""
        self._wants_to = False

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """See `SessionRunHook.after_run`."""
        session = run_context.session
        step = session.global_step
        if not self._wants_to and self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            self._wants_to = bool(self._should_stop())
        if session.agrees(self._wants_to):
            logging.info(f"Requesting early stopping at global step {step}")
            run_context.request_stop()


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> EarlyStoppingHook:
    """Makes a hook that stops training when a function returns True.

    What differs here: each worker of parameter servers decides by itself. Seconds are allowed with every strategy.

    Args:
        estimator: what is trained.
        should_stop_fn: asked after steps.
        run_every_secs: how often, in seconds.
        run_every_steps: how often, in steps; `run_every_secs` must be None then.

    Raises:
        TypeError: the estimator is none, or the function.
        ValueError: both intervals are given, or none.

    Source: `tf.estimator.experimental.make_early_stopping_hook`.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if not callable(should_stop_fn):
        raise TypeError("`should_stop_fn` must be callable.")
    return EarlyStoppingHook(should_stop_fn, SecondOrStepTimer(run_every_secs, run_every_steps))


def read_eval_metrics(eval_dir: StrPath) -> dict[int, dict[str, float]]:
    """Reads what evaluations have written: by step, in its order, the metrics by name."""
    found: dict[int, dict[str, float]] = {}
    folder = path_of(eval_dir)
    for file in sorted(folder.glob("*.tfevents.*")) if folder.is_dir() else ():
        for event in summary_iterator(file):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    found.setdefault(event.step, {})[value.tag] = value.simple_value
    return dict(sorted(found.items()))


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: StrPath | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> EarlyStoppingHook:
    """Makes a hook that stops when a metric of an evaluation is above a threshold.

    Args:
        estimator: what is trained.
        metric_name: such as `"accuracy"`.
        threshold: for the metric.
        eval_dir: folder of the evaluations' events; None for `estimator.eval_dir()`.
        min_steps: evaluations of earlier steps do not count.
        run_every_secs: see `make_early_stopping_hook`.
        run_every_steps: likewise.

    Source: `tf.estimator.experimental.stop_if_higher_hook`.
    """
    stop = _crossed(operator.gt, "greater than", metric_name, threshold, min_steps)
    return _by_evaluations(estimator, stop, eval_dir, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: StrPath | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> EarlyStoppingHook:
    """Makes a hook that stops when a metric of an evaluation is below a threshold; see `stop_if_higher_hook`.

    Source: `tf.estimator.experimental.stop_if_lower_hook`.
    """
    stop = _crossed(operator.lt, "less than", metric_name, threshold, min_steps)
    return _by_evaluations(estimator, stop, eval_dir, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: StrPath | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> EarlyStoppingHook:
    """Makes a hook that stops when a metric has not been higher than before for so many steps; see `stop_if_higher_hook`.

    Source: `tf.estimator.experimental.stop_if_no_increase_hook`.
    """
    stop = _stalled(operator.gt, "increase", metric_name, max_steps_without_increase, min_steps)
    return _by_evaluations(estimator, stop, eval_dir, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: StrPath | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> EarlyStoppingHook:
    """Makes a hook that stops when a metric has not been lower than before for so many steps; see `stop_if_higher_hook`.

    Source: `tf.estimator.experimental.stop_if_no_decrease_hook`.
    """
    stop = _stalled(operator.lt, "decrease", metric_name, max_steps_without_decrease, min_steps)
    return _by_evaluations(estimator, stop, eval_dir, run_every_secs, run_every_steps)


# Of steps and values of a metric: whether to stop.
_Decision = Callable[[StrPath], bool]


def _by_evaluations(
    estimator: Estimator,
    decision: _Decision,
    eval_dir: StrPath | None,
    run_every_secs: float | None,
    run_every_steps: int | None,
) -> EarlyStoppingHook:
    def should_stop() -> bool:
        return decision(estimator.eval_dir() if eval_dir is None else eval_dir)

    return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)


def _values(folder: StrPath, name: str, min_steps: int) -> list[tuple[int, float]]:
    """Lists the steps and values of a metric."""
    found: list[tuple[int, float]] = []
    for step, metrics in read_eval_metrics(folder).items():
        if step < min_steps:
            continue
        if name not in metrics:
            raise KeyError(
                f"The evaluation of step {step} in {folder} has no metric {name!r}, but {', '.join(sorted(metrics))}. Name one of "
                "these, or add it to eval_metric_ops."
            )
        found.append((step, metrics[name]))
    return found


def _crossed(
    is_better: Callable[[Any, Any], bool], words: str, name: str, threshold: float, min_steps: int
) -> _Decision:
    def crossed(folder: StrPath) -> bool:
        for step, value in _values(folder, name, min_steps):
            if is_better(value, threshold):
                logging.info(
                    f'At step {step}, metric "{name}" has value {value} which is {words} the configured threshold '
                    f"({threshold}) for early stopping."
                )
                return True
        return False

    return crossed


def _stalled(
    is_better: Callable[[Any, Any], bool], word: str, name: str, max_steps: int, min_steps: int
) -> _Decision:
    def stalled(folder: StrPath) -> bool:
        best: tuple[int, float] | None = None
        for step, value in _values(folder, name, min_steps):
            if best is None or is_better(value, best[1]):
                best = step, value
            if step - best[0] >= max_steps:
                logging.info(
                    f'No {word} in metric "{name}" for {step - best[0]} steps, which is greater than or equal to max steps '
                    f"({max_steps}) configured for early stopping."
                )
                return True
        return False

    return stalled
