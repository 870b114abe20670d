"""What input functions are given: `InputContext` and others."""

import dataclasses
import enum


@dataclasses.dataclass(frozen=True)
class InputContext:
    """Which part of the input a pipeline is for.

    Attributes:
        num_input_pipelines: how many processes have a pipeline.
        input_pipeline_id: which of them this one is.
        num_replicas_in_sync: how many replicas all pipelines feed.

    Examples:
        >>> InputContext(num_replicas_in_sync=4).get_per_replica_batch_size(32)
        8

    Source: `tf.distribute.InputContext`.
    """

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def __str__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, "
            f"total: {self.num_input_pipelines})"
        )

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Divides the rows of a global batch by the number of replicas.

        Raises:
            ValueError: it does not divide.
        """
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The global batch size {global_batch_size} does not divide by the "
                f"{self.num_replicas_in_sync} replicas. Use a multiple of "
                f"{self.num_replicas_in_sync}, or strategy.experimental_distribute_dataset, which "
                "splits any batch."
            )
        return global_batch_size // self.num_replicas_in_sync


@dataclasses.dataclass(frozen=True)
class ValueContext:
    """Which replica a value is for.

    Attributes:
        replica_id_in_sync_group: index of the replica.
        num_replicas_in_sync: how many replicas there are.

    Source: `tf.distribute.experimental.ValueContext`.
    """

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1


class InputReplicationMode(enum.Enum):
    """Whether an input function makes a pipeline for each process or for each replica.

    Source: `tf.distribute.InputReplicationMode`.
    """

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


@dataclasses.dataclass(frozen=True)
class InputOptions:
    """How input is made and placed; the engine always places it on the devices ahead of use.

    Attributes:
        experimental_fetch_to_device: place batches on the devices ahead of use; accepted.
        experimental_replication_mode: whether `distribute_datasets_from_function` makes a pipeline for
            each replica.
        experimental_place_dataset_on_device: run the pipeline on the device; accepted.
        experimental_per_replica_buffer_size: batches to place ahead; accepted.

    Source: `tf.distribute.InputOptions`.
    """

    experimental_fetch_to_device: bool = True
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1
