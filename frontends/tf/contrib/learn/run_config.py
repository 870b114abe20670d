"""How an estimator runs, with the parameters of `tf.contrib.learn`."""

from typing import Any

from frontends.tf.estimator.run_config import RunConfig as _RunConfig
from spmd.typing import StrPath

_SAVE_SECONDS = 600


class RunConfig(_RunConfig):
    """How an estimator runs; does not change once it is made.

    Source: `tf.contrib.learn.RunConfig`.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1.0,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: int | None = _SAVE_SECONDS,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: StrPath | None = None,
        session_config: object = None,
        session_creation_timeout_secs: int = 7200,
    ) -> None:
        """Describes a run.

        Args:
            master: accepted, and not used: there are no sessions to connect to.
            num_cores: accepted, and not used.
            log_device_placement: accepted, and not used.
            gpu_memory_fraction: accepted, and not used.
            tf_random_seed: see `tf.estimator.RunConfig`.
            save_summary_steps: see `tf.estimator.RunConfig`.
            save_checkpoints_secs: how often checkpoints are written, in seconds; steps take its place.
            save_checkpoints_steps: likewise in steps.
            keep_checkpoint_max: see `tf.estimator.RunConfig`.
            keep_checkpoint_every_n_hours: see `tf.estimator.RunConfig`.
            log_step_count_steps: see `tf.estimator.RunConfig`.
            protocol: accepted, and not used.
            evaluation_master: accepted, and not used.
            model_dir: folder of checkpoints and summaries.
            session_config: accepted, and not used.
            session_creation_timeout_secs: accepted, and not used.

        Raises:
            ValueError: see `tf.estimator.RunConfig`.
        """
        every: dict[str, Any] = {"save_checkpoints_secs": save_checkpoints_secs}
        if save_checkpoints_steps is not None:
            every = {"save_checkpoints_steps": save_checkpoints_steps}
            if save_checkpoints_secs != _SAVE_SECONDS:
                every["save_checkpoints_secs"] = save_checkpoints_secs
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
            **every,
        )
