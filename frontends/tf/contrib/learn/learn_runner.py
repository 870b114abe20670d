"""`tf.contrib.learn.learn_runner`: runs an experiment as the task of this process does."""

from collections.abc import Callable
from typing import Any

from frontends.tf.contrib.learn.experiment import Experiment
from frontends.tf.estimator.run_config import RunConfig
from spmd.typing import StrPath

_SCHEDULES = {
    "master": "train_and_evaluate",
    "chief": "train_and_evaluate",
    "worker": "train",
    "ps": "run_std_server",
}


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: StrPath | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: Any = None,
) -> Any:
    """Makes an experiment, and runs one of its methods. Blocks until that has ended.

    Args:
        experiment_fn: takes the folder, or a configuration and the hyperparameters; returns an `Experiment`.
        output_dir: folder; must be None if `run_config` is given, which names one.
        schedule: name of the method; None is `"train_and_evaluate"`, and in a cluster what TF_CONFIG's task is for.
        run_config: how to run.
        hparams: given to `experiment_fn`.

    Returns:
        What the method returns.

    Raises:
        ValueError: not one of `output_dir` and `run_config` is given, the configuration has no folder, or there is no such method.
        TypeError: `experiment_fn` cannot be called, or returns something else.

    Source: `tf.contrib.learn.learn_runner.run`.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError(
            "Cannot provide both `output_dir` and `run_config`: RunConfig(model_dir=output_dir) names the folder."
        )
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder {experiment_fn!r} is not callable.")
    if run_config is not None:
        if not run_config.model_dir:
            raise ValueError(
                "Must specify a model directory `model_dir` in `run_config`: RunConfig(model_dir=folder)."
            )
        experiment = experiment_fn(run_config, hparams)
    elif output_dir is None:
        raise ValueError(
            "Must set value for `output_dir` or `run_config`: learn_runner.run(experiment_fn, folder)."
        )
    elif hparams is not None:
        raise ValueError(
            "`hparams` needs `run_config`: learn_runner.run(experiment_fn, run_config=RunConfig(model_dir=folder), hparams=hparams)."
        )
    else:
        experiment = experiment_fn(output_dir)
    if not isinstance(experiment, Experiment):
        raise TypeError(
            f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead."
        )
    task = getattr(experiment, schedule or _default_schedule(experiment.estimator.config), None)
    if not callable(task):
        known = [
            name for name, value in vars(Experiment).items() if callable(value) and name[0] != "_"
        ]
        raise ValueError(
            f"Schedule references non-existent task {schedule}. There are: {', '.join(known)}."
        )
    return task()


def _default_schedule(config: RunConfig) -> str:
    """Returns what the task of this process does.

    Raises:
        ValueError: TF_CONFIG has another task.
    """
    if not config.cluster_spec:
        return "train_and_evaluate"
    if config.task_type not in _SCHEDULES:
        raise ValueError(
            f"No default schedule for task type: {config.task_type}. Use tf.estimator.train_and_evaluate, which has evaluators."
        )
    return _SCHEDULES[config.task_type]
