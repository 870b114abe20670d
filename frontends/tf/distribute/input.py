"""What functions that make input are told: `InputContext`, `ValueContext`, `InputOptions`."""

import dataclasses


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

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Divides a global batch evenly.

        Args:
            global_batch_size: rows of all replicas together.

        Returns:
            Rows of one replica.

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

    Examples:
        >>> ValueContext(1, 2).replica_id_in_sync_group
        1

    Source: `tf.distribute.experimental.ValueContext`.
    """

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1


@dataclasses.dataclass(frozen=True)
class InputOptions:
    """How input is placed; accepted, because the engine always places it on the devices ahead of use.

    Attributes:
        experimental_fetch_to_device: place batches on the devices ahead of use.
        experimental_replication_mode: of TensorFlow; one pipeline feeds all local replicas here.
        experimental_place_dataset_on_device: run the pipeline on the device.
        experimental_per_replica_buffer_size: batches to place ahead.

    Source: `tf.distribute.InputOptions`.
    """

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: str | None = None
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1
