"""Options of strategies: how to run, and how to communicate. They change no result."""

import dataclasses
import enum
from typing import Any

from spmd.replica import CollectiveOptions


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """Options of `strategy.run`; none of them changes a result, as none is needed here.

    Attributes:
        experimental_enable_dynamic_batch_size: whether batches may differ in size, as the last one does. Here they always
            may: a smaller batch is padded to the full size and its padding masked, so that one program serves all.
        experimental_bucketizing_dynamic_shape: whether sizes that change are rounded up, to make fewer programs. Here sizes
            other than that of the batch have a program each.
        experimental_xla_options: a `tf.tpu.XLAOptions`; programs are always divided by XLA's partitioner (SPMD).

    Source: `tf.distribute.RunOptions`.
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class CommunicationImplementation(enum.Enum):
    """The library of collectives; XLA chooses.

    Source: `tf.distribute.experimental.CommunicationImplementation`.
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclasses.dataclass(frozen=True)
class CollectiveHints:
    """An earlier name of `CommunicationOptions`.

    Attributes:
        bytes_per_pack: as there.
        timeout_seconds: as there.

    Raises:
        ValueError: `bytes_per_pack` is negative.

    Source: `tf.distribute.experimental.CollectiveHints`.
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.bytes_per_pack < 0:
            raise ValueError(f"bytes_per_pack must be 0 or more, but is {self.bytes_per_pack}.")
        _ = self.collectives  # raises if others are wrong

    @property
    def collectives(self) -> CollectiveOptions:
        """The engine's options."""
        return CollectiveOptions(self.bytes_per_pack, compression=getattr(self, "compression", ""))


@dataclasses.dataclass(frozen=True)
class CommunicationOptions(CollectiveHints):
    """Options of collectives of a `MultiWorkerMirroredStrategy`; elsewhere accepted.

    Attributes:
        bytes_per_pack: gradients are summed in buckets of this many bytes; with 0 XLA's combiner decides on GPUs
            and TPUs, and small ones share buckets on CPUs.
        timeout_seconds: how long to wait for other processes at the start.
        implementation: the library; XLA takes NCCL on GPUs and gloo on CPUs, whatever this says.
        compression: not in TensorFlow: "bfloat16" sends gradients with half the bits.

    Raises:
        ValueError: `bytes_per_pack` is negative, or there is no such implementation or compression.

    Source: `tf.distribute.experimental.CommunicationOptions`.
    """

    implementation: CommunicationImplementation | str = CommunicationImplementation.AUTO
    compression: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = self.implementation
        if isinstance(name, str):
            name = name.upper()
        object.__setattr__(self, "implementation", CommunicationImplementation(name))
