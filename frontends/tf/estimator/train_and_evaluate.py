"""`tf.estimator.train_and_evaluate`: training, with an evaluation after checkpoints."""

import time
from typing import Any

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.estimator import Estimator, step_of
from frontends.tf.estimator.hooks.checkpoint_saver import CheckpointSaverListener
from frontends.tf.estimator.specs import EvalSpec, TrainSpec

_POLL_SECONDS = 1.0


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any], list[Any]] | None:
    """Trains, and evaluates after checkpoints, as the task of this process in TF_CONFIG does.

    Without a cluster, and with one worker alone, this process does both. In a cluster workers train, and the task
    `evaluator` evaluates each checkpoint that it sees, up to that of `max_steps`.

    Args:
        estimator: what is trained.
        train_spec: how.
        eval_spec: how to evaluate.

    Returns:
        The last metrics and what exporters returned; None for a task of a cluster.

    Raises:
        ValueError: the task's job is unknown, or an evaluator would never end.

    Source: `tf.estimator.train_and_evaluate`.
    """
    config = estimator.config
    if config.task_type == "evaluator":
        return _follow(estimator, train_spec, eval_spec)
    if config.num_worker_replicas > 1 or "evaluator" in config.cluster_spec.jobs:
        estimator.train(
            train_spec.input_fn,
            hooks=train_spec.hooks,
            max_steps=train_spec.max_steps,
            saving_listeners=train_spec.saving_listeners,
        )
        return None
    return _train_and_evaluate_here(estimator, train_spec, eval_spec)


class _Evaluation:
    """Evaluates checkpoints, each once, not too often."""

    def __init__(self, estimator: Estimator, spec: EvalSpec, max_steps: int | None) -> None:
        self._estimator, self._spec, self._max_steps = estimator, spec, max_steps
        self._path: str | None = None
        self._started = 0.0
        self.metrics: dict[str, Any] = {}
        self.exports: list[Any] = []

    def wait_seconds(self) -> float:
        """Returns how long to wait until the next evaluation may start."""
        return self._started + self._spec.throttle_secs - time.monotonic() if self._started else 0.0

    def run(self) -> bool:
        """Evaluates the latest checkpoint, if it is a new one; tells whether training is over."""
        path = self._estimator.latest_checkpoint()
        if path is None or path == self._path:
            return False
        self._started = time.monotonic()
        self._path = path
        spec = self._spec
        self.metrics = self._estimator.evaluate(
            spec.input_fn, steps=spec.steps, hooks=spec.hooks, checkpoint_path=path, name=spec.name
        )
        is_final = self._max_steps is not None and self.metrics["global_step"] >= self._max_steps
        self.exports = [
            exporter.export(
                estimator=self._estimator,
                export_path=f"{self._estimator.model_dir}/export/{exporter.name}",
                checkpoint_path=path,
                eval_result=self.metrics,
                is_the_final_export=is_final,
            )
            for exporter in spec.exporters
        ]
        return is_final


class _Listener(CheckpointSaverListener):
    """Evaluates a checkpoint when it is written."""

    def __init__(self, evaluation: _Evaluation) -> None:
        self._evaluation = evaluation
        self._is_first = True

    def after_save(self, session: Any, global_step_value: int) -> None:
        """See `CheckpointSaverListener.after_save`."""
        if self._is_first:  # nothing has been trained yet
            self._is_first = False
            return
        seconds = self._evaluation.wait_seconds()
        if seconds > 0:
            logging.info(
                f"Skip the current checkpoint eval due to throttle secs ({seconds:.0f} secs left)."
            )
            return
        self._evaluation.run()


def _train_and_evaluate_here(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any], list[Any]]:
    logging.info("Running training and evaluation locally (non-distributed).")
    evaluation = _Evaluation(estimator, eval_spec, train_spec.max_steps)
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=[*train_spec.saving_listeners, _Listener(evaluation)],
    )
    evaluation.run()
    return evaluation.metrics, evaluation.exports


def _follow(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    """Evaluates checkpoints until the last."""
    if train_spec.max_steps is None:
        raise ValueError(
            "An evaluator ends when it has evaluated the checkpoint of max_steps, which TrainSpec does not name. Give it: "
            "tf.estimator.TrainSpec(input_fn, max_steps=10000)."
        )
    latest = estimator.latest_checkpoint()
    if latest is None or step_of(latest) < train_spec.max_steps:
        logging.info(f"Waiting {eval_spec.start_delay_secs:f} secs before starting eval.")
        time.sleep(eval_spec.start_delay_secs)
    evaluation = _Evaluation(estimator, eval_spec, train_spec.max_steps)
    while not evaluation.run():
        time.sleep(max(_POLL_SECONDS, evaluation.wait_seconds()))
