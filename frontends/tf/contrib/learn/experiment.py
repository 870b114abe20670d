"""`tf.contrib.learn.Experiment`: an estimator with what it trains on, and how it is evaluated."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from frontends.tf.compat.v1 import logging
from frontends.tf.contrib.learn.export_strategy import ExportStrategy
from frontends.tf.estimator import CheckpointSaverListener, Estimator

_STEPS_BETWEEN = 1000

_Result = tuple[dict[str, Any], list[Any]]


class Experiment:
    """Trains and evaluates an estimator.

    What differs here: the estimator is one of `tf.estimator`. Workers do not wait for each other to start. Before the
    first step nothing is evaluated.

    Attributes:
        estimator: what is trained.

    Source: `tf.contrib.learn.Experiment`.
    """

    def __init__(
        self,
        estimator: Estimator,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: ExportStrategy | Sequence[ExportStrategy] | None = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        """Describes the experiment.

        Args:
            estimator: what is trained.
            train_input_fn: see `Estimator.train`.
            eval_input_fn: see `Estimator.evaluate`.
            eval_metrics: must be None: the model function has `eval_metric_ops`.
            train_steps: the global step at which training ends; None trains on all batches.
            eval_steps: how many batches an evaluation takes at most; None takes all.
            train_monitors: hooks of training.
            eval_hooks: hooks of evaluations.
            local_eval_frequency: former name of `min_eval_frequency`.
            eval_delay_secs: how long `evaluate` waits first.
            continuous_eval_throttle_secs: accepted, and not used.
            min_eval_frequency: `train_and_evaluate` evaluates a checkpoint that is at least so many steps newer than the one
                before; None takes each, and 0 the last one only.
            delay_workers_by_global_step: accepted, and not used.
            export_strategies: how to export after evaluations.
            train_steps_per_iteration: how many steps `continuous_train_and_eval` trains between evaluations.
            checkpoint_and_export: whether `train_and_evaluate` exports after each evaluation, not only after the last.
            saving_listeners: called around saving.
            check_interval_secs: accepted, and not used.

        Raises:
            ValueError: the estimator is another, or metrics are given.
        """
        if not isinstance(estimator, Estimator):
            raise ValueError(
                f"`estimator` must implement `tf.estimator.Estimator`. Got: {type(estimator)}"
            )
        if eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in your model function "
                "instead."
            )
        self.estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._train_hooks, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._eval_delay_secs = eval_delay_secs
        frequency = local_eval_frequency if min_eval_frequency is None else min_eval_frequency
        self._frequency = 1 if frequency is None else frequency
        self._strategies = _listed(export_strategies)
        self._steps_between = train_steps_per_iteration
        self._exports_each = checkpoint_and_export
        self._listeners = list(saving_listeners or ())

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """Adds hooks of training."""
        self._train_hooks += additional_hooks

    def reset_export_strategies(
        self, new_export_strategies: ExportStrategy | Sequence[ExportStrategy] | None = None
    ) -> list[ExportStrategy]:
        """Replaces how to export; returns how it was before."""
        before, self._strategies = self._strategies, _listed(new_export_strategies)
        return before

    def train(self, delay_secs: float | None = None) -> Estimator:
        """Trains; on parameter servers and their workers, serves. `delay_secs` is accepted, and not used."""
        return self._train(max_steps=self._train_steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> dict[str, Any]:
        """Waits, and evaluates the latest checkpoint; returns the metrics."""
        seconds = self._eval_delay_secs if delay_secs is None else delay_secs
        if seconds:
            logging.info(f"Waiting {int(seconds)} secs before starting eval.")
            time.sleep(seconds)
        return self._evaluate(name or "one_pass")

    def train_and_evaluate(self) -> _Result:
        """Trains, and evaluates new checkpoints, the last one in any case.

        Returns:
            The last metrics, and what exports returned.
        """
        evaluations = _Evaluations(self._frequency, self._evaluate_and_maybe_export)
        with self.estimator.keeping_evaluations():
            self._train([evaluations] if self._frequency else [], max_steps=self._train_steps)
            metrics, exports = evaluations.last or (None, None)
            if metrics is None or metrics["global_step"] != self.estimator.latest_step():
                metrics, exports = self._evaluate(), None
        return metrics, self._export(metrics) if exports is None else exports

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[[Any], bool] | None = None
    ) -> tuple[dict[str, Any] | None, list[Any] | None]:
        """Trains some steps, evaluates, exports, and so on until all steps are trained.

        Args:
            continuous_eval_predicate_fn: takes the last metrics, None at first; False ends it.

        Returns:
            The last metrics, and what exports returned.
        """
        steps, wanted = self._train_steps, continuous_eval_predicate_fn
        between = self._steps_between or min(
            self._frequency or _STEPS_BETWEEN, steps or _STEPS_BETWEEN
        )
        metrics, exports = None, None
        while wanted is None or wanted(metrics):
            if metrics is not None and steps is not None and metrics["global_step"] >= steps:
                break
            self._train(steps=between)
            metrics = self._evaluate()
            exports = self._export(metrics)
        return metrics, exports

    def run_std_server(self) -> None:
        """Serves a training, as a parameter server, until it has ended."""
        self.train()

    def test(self) -> _Result:
        """Trains for a step, evaluates one, and exports."""
        self._train(steps=1)
        metrics = self.estimator.evaluate(self._eval_input_fn, 1, self._eval_hooks, name="one_pass")
        return metrics, self._export(metrics)

    def _train(self, listeners: Sequence[Any] = (), **limits: int | None) -> Estimator:
        return self.estimator.train(
            self._train_input_fn,
            self._train_hooks,
            saving_listeners=[*self._listeners, *listeners],
            **limits,
        )

    def _evaluate(self, name: str | None = None) -> dict[str, Any]:
        return self.estimator.evaluate(
            self._eval_input_fn, self._eval_steps, self._eval_hooks, name=name
        )

    def _evaluate_and_maybe_export(self) -> tuple[dict[str, Any], list[Any] | None]:
        metrics = self._evaluate()
        return metrics, self._export(metrics) if self._exports_each else None

    def _export(self, metrics: dict[str, Any]) -> list[Any]:
        folder = f"{self.estimator.model_dir}/export"
        return [
            one.export(self.estimator, f"{folder}/{one.name}", eval_result=metrics)
            for one in self._strategies
        ]


def _listed(
    strategies: ExportStrategy | Sequence[ExportStrategy] | None,
) -> list[ExportStrategy]:
    return [strategies] if isinstance(strategies, ExportStrategy) else list(strategies or ())


class _Evaluations(CheckpointSaverListener):
    """Evaluates a checkpoint when it is written, if it is new enough.

    Attributes:
        last: what the last evaluation returned.
    """

    def __init__(
        self, every: int, evaluate: Callable[[], tuple[dict[str, Any], list[Any] | None]]
    ) -> None:
        self._every, self._evaluate = every, evaluate
        self._step: int | None = None
        self.last: tuple[dict[str, Any], list[Any] | None] | None = None

    def after_save(self, session: Any, global_step_value: int) -> None:
        """See `CheckpointSaverListener.after_save`."""
        if self._step is None:  # nothing has been trained yet
            self._step = global_step_value
        elif global_step_value >= self._step + self._every:
            self._step = global_step_value
            self.last = self._evaluate()
