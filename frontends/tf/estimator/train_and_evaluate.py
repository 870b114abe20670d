"""`tf.estimator.train_and_evaluate`: training, with an evaluation after checkpoints."""

import time
from collections.abc import Sequence
from typing import Any

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator import model_checkpoints
from frontends.tf.estimator.end_mark import EndMark
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.hooks.checkpoint_saver import CheckpointSaverListener
from frontends.tf.estimator.run_config import RunConfig
from frontends.tf.estimator.server_training import serve, serves, uses_servers
from frontends.tf.estimator.specs import EvalSpec, TrainSpec
from frontends.tf.estimator.training_end import TrainingEnd
from spmd.topology import spans_processes

_POLL_SECONDS = 1.0
# How long an evaluator, and a task that serves, wait for a training in a folder where one has ended before.
_FORMER_SECONDS = 60.0
_SERVES_FORMER_SECONDS = 300.0


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None] | None:
    """Trains, and evaluates after checkpoints, as the task of this process in TF_CONFIG does.

    Without a cluster, and with one worker alone, this process does both. In a cluster the chief and workers train, and the task
    `evaluator` evaluates each checkpoint that it sees, up to that of `max_steps`, or to the last one when training has ended.

    What differs here: an evaluator ends where `max_steps` is never reached, too, and evaluates the last checkpoint at once.

    Args:
        estimator: what is trained.
        train_spec: how.
        eval_spec: how to evaluate.

    Returns:
        The last metrics and what exporters returned, None twice if `max_steps` had been reached before; None for a task of
        a cluster.

    Raises:
        TypeError: an argument is of another class.
        ValueError: several workers are to train, and each would on its own.

    Source: `tf.estimator.train_and_evaluate`.
    """
    for name, given, kind in (
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
        ("eval_spec", eval_spec, EvalSpec),
    ):
        if not isinstance(given, kind):
            raise TypeError(
                f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(given)}"
            )
    logging.info("Not using Distribute Coordinator.")
    config = estimator.config
    if config.task_type == "evaluator":
        with estimator.keeping_evaluations():
            return _follow(estimator, train_spec, eval_spec)
    is_served = uses_servers(config) and config.remote_cluster is None
    only_trains = config.num_worker_replicas > 1 or config.task_type == "chief" or is_served
    if config.task_type != "master" and (only_trains or "evaluator" in config.cluster_spec.jobs):
        _train(estimator, train_spec, [])
        return None
    with estimator.keeping_evaluations():
        return _train_and_evaluate_here(estimator, train_spec, eval_spec)


def _train(estimator: Estimator, spec: TrainSpec, listeners: Sequence[Any]) -> None:
    """Trains; tells an evaluator, if there may be one, when it has ended."""
    config, mark = estimator.config, EndMark(estimator.model_dir, spec.max_steps)
    _check_strategy(config)
    if serves(config):
        end = TrainingEnd(estimator.model_dir, spec.max_steps, _SERVES_FORMER_SECONDS)
        serve(config, end.has_come)
        return
    marks = bool(config.cluster_spec) and config.is_chief
    if marks:
        mark.remove()
    estimator.train(
        spec.input_fn,
        hooks=spec.hooks,
        max_steps=spec.max_steps,
        saving_listeners=[*spec.saving_listeners, *listeners],
    )
    if marks:
        mark.write()


def _check_strategy(config: RunConfig) -> None:
    """Checks that workers train together."""
    strategy = config.train_distribute
    joined = strategy is not None and spans_processes(strategy.mesh)
    if config.num_worker_replicas > 1 and not config.num_ps_replicas and not joined:
        raise ValueError(
            f"TF_CONFIG names {config.num_worker_replicas} workers, but train_distribute={strategy!r} trains on the devices of "
            "this process only, so each worker would train a model of its own, in the same folder. Write "
            "tf.estimator.RunConfig(train_distribute=tf.distribute.MultiWorkerMirroredStrategy())."
        )


class _Evaluation:
    """Evaluates checkpoints, each once, not too often."""

    def __init__(self, estimator: Estimator, spec: EvalSpec, max_steps: int | None) -> None:
        self._estimator, self._spec, self._max_steps = estimator, spec, max_steps
        # The checkpoint, and when it was written: one of the same step may take its place.
        self._evaluated: tuple[str, float] | None = None
        self._started = 0.0
        self.metrics: dict[str, Any] | None = None
        self.exports: list[Any] | None = None

    def wait_seconds(self) -> float:
        """Returns how long to wait until the next evaluation may start."""
        return self._started + self._spec.throttle_secs - time.monotonic() if self._started else 0.0

    def run(self) -> bool:
        """Evaluates the latest checkpoint, if it is a new one; tells whether training is over."""
        found = model_checkpoints.newest(self._estimator.model_dir, self._evaluated)
        if found is None:
            return False
        self._started = time.monotonic()
        self._evaluated, (path, _), spec = found, found, self._spec
        try:
            metrics = self._estimator.evaluate(
                spec.input_fn,
                steps=spec.steps,
                hooks=spec.hooks,
                checkpoint_path=path,
                name=spec.name,
            )
        except FileNotFoundError:
            # It may have made room for newer ones before it was read.
            if self._estimator.latest_checkpoint() == path:
                raise
            return False
        is_final = self._max_steps is not None and metrics["global_step"] >= self._max_steps
        self.metrics = metrics
        self.exports = [
            exporter.export(
                estimator=self._estimator,
                export_path=f"{self._estimator.model_dir}/export/{exporter.name}",
                checkpoint_path=path,
                eval_result=metrics,
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

    def end(self, session: Any, global_step_value: int) -> None:
        """See `CheckpointSaverListener.end`."""
        self._evaluation.run()  # if the last checkpoint came too early after an evaluation


def _train_and_evaluate_here(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    config = estimator.config
    logging.info("Running training and evaluation locally (non-distributed).")
    logging.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is determined "
        f"based on RunConfig arguments: save_checkpoints_steps {config.save_checkpoints_steps} or save_checkpoints_secs "
        f"{config.save_checkpoints_secs}."
    )
    evaluation = _Evaluation(estimator, eval_spec, train_spec.max_steps)
    _train(estimator, train_spec, [_Listener(evaluation)])
    return evaluation.metrics, evaluation.exports


def _follow(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    """Evaluates checkpoints until the last: that of `max_steps`, or the latest when training has ended."""
    max_steps, start = train_spec.max_steps, time.monotonic()
    has_ended = TrainingEnd(estimator.model_dir, max_steps, _FORMER_SECONDS).has_come
    if not has_ended():
        logging.info(f"Waiting {eval_spec.start_delay_secs:f} secs before starting eval.")
        while not has_ended() and time.monotonic() < start + eval_spec.start_delay_secs:
            time.sleep(_POLL_SECONDS)
    evaluation = _Evaluation(estimator, eval_spec, max_steps)
    while True:
        # Asked before the checkpoint is looked for, as one may still be written.
        is_last = has_ended()
        if (is_last or evaluation.wait_seconds() <= 0) and evaluation.run():
            return
        if is_last:
            return
        time.sleep(_POLL_SECONDS)
