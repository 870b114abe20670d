"""How a `TPUEstimator` runs: a `RunConfig` with a `TPUConfig`."""

import dataclasses
from typing import Any

from frontends.tf.distribute.cluster_resolver import TPUClusterResolver
from frontends.tf.estimator.run_config import RunConfig as _RunConfig

_CORES = (1, 2, 4, 8, 16, 32, 64, 128)


class InputPipelineConfig:
    """Where an `input_fn` is called; each core takes a batch of its own here, whichever it is.

    Source: `tf.estimator.tpu.InputPipelineConfig`.
    """

    PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = range(1, 6)


@dataclasses.dataclass(frozen=True)
class TPUConfig:
    """What scripts say of TPUs. None of it has an effect: all cores train, each on a batch of its own.

    Attributes:
        iterations_per_loop: how many steps a call of a session took.
        num_shards: how many replicas there are.
        num_cores_per_replica: cores that share a replica; must be None or 1.
        per_host_input_for_training: one of `InputPipelineConfig`, or a bool.
        tpu_job_name: of the workers.
        initial_infeed_sleep_secs: how long to wait for compilation.
        input_partition_dims: how the cores of a replica divide inputs; must be None.
        eval_training_input_configuration: one of `InputPipelineConfig`.
        experimental_host_call_every_n_steps: how often `host_call` would be called; each step does.
        experimental_allow_per_host_v2_parallel_get_next: whether batches may come in another order.
        experimental_feed_hook: would feed the TPU.

    Source: `tf.estimator.tpu.TPUConfig`.
    """

    iterations_per_loop: int | str = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: int | bool = True
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1
    experimental_allow_per_host_v2_parallel_get_next: bool = False
    experimental_feed_hook: Any = None

    def __post_init__(self) -> None:
        """Checks the numbers.

        Raises:
            ValueError: a number is out of range.
            NotImplementedError: several cores are to share a replica.
        """
        if self.num_shards is not None and self.num_shards < 1:
            raise ValueError(f"TPUConfig num_shards must be positive, but is {self.num_shards}.")
        if self.num_cores_per_replica not in (None, *_CORES):
            raise ValueError(
                f"num_cores_per_replica must be one of {_CORES}; got {self.num_cores_per_replica}"
            )
        if self.num_cores_per_replica not in (None, 1) or self.input_partition_dims is not None:
            raise NotImplementedError(
                "Several cores that share a replica of a TPUEstimator are not supported. Leave out num_cores_per_replica and "
                "input_partition_dims; or write a training loop with tf.distribute.TPUStrategy(experimental_device_assignment="
                "tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=4))."
            )


class RunConfig(_RunConfig):
    """`tf.estimator.RunConfig` with a TPU.

    Source: `tf.estimator.tpu.RunConfig`.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: TPUClusterResolver | None = None,
        **kwargs: Any,
    ) -> None:
        """Describes a run.

        Args:
            tpu_config: see `TPUConfig`.
            evaluation_master: accepted, and not used: there are no sessions.
            master: likewise.
            cluster: a `TPUClusterResolver`; None for the TPU of this machine.
            **kwargs: those of `tf.estimator.RunConfig`.

        Raises:
            ValueError: both `master` and `cluster` are given, or an option is out of range.
        """
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        super().__init__(**kwargs)
        self._values |= {"tpu_config": tpu_config or TPUConfig(), "cluster": cluster}

    def replace(self, **kwargs: Any) -> "RunConfig":
        """Returns a copy with other values; see `tf.estimator.RunConfig.replace`.

        Raises:
            ValueError: a name is unknown, or cannot be changed.

        Source: `tf.estimator.tpu.RunConfig.replace`.
        """
        tpu_config = kwargs.pop("tpu_config", self.tpu_config)
        new: Any = super().replace(**kwargs)
        new._values["tpu_config"] = tpu_config
        return new
