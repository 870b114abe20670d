"""Options that scripts hand to strategies: how to run, and how to communicate. They change no result."""

import dataclasses
import enum
from typing import Any


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """Options of `strategy.run`; accepted.

    Attributes:
        experimental_enable_dynamic_batch_size: shapes that change; here, batches are padded and masked.
        experimental_bucketizing_dynamic_shape: of TPUs.
        experimental_xla_options: of TPUs.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
        >>> strategy.run(lambda: 1.0, options=tf.distribute.RunOptions()).values[0].item()
        1.0

    Source: `tf.distribute.RunOptions`.
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class CommunicationImplementation(enum.Enum):
    """By what library collectives travel; XLA chooses.

    Source: `tf.distribute.experimental.CommunicationImplementation`.
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclasses.dataclass(frozen=True)
class CommunicationOptions:
    """Options of collectives of a `MultiWorkerMirroredStrategy`; elsewhere accepted.

    Attributes:
        bytes_per_pack: gradients are joined to packs of so many bytes; with 0 XLA's combiner decides.
        timeout_seconds: how long to wait for other processes at the start.
        implementation: the library; XLA takes NCCL on GPUs and gloo on processors, whatever this says.

    Raises:
        ValueError: `bytes_per_pack` is negative, or there is no such implementation.

    Examples:
        >>> CommunicationOptions(implementation="NCCL").implementation
        <CommunicationImplementation.NCCL: 'NCCL'>

    Source: `tf.distribute.experimental.CommunicationOptions`.
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation | str = CommunicationImplementation.AUTO

    def __post_init__(self) -> None:
        _check_pack(self.bytes_per_pack)
        name = self.implementation
        if isinstance(name, str):
            name = name.upper()
        object.__setattr__(self, "implementation", CommunicationImplementation(name))


@dataclasses.dataclass(frozen=True)
class CollectiveHints:
    """The former name of `CommunicationOptions`.

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
        _check_pack(self.bytes_per_pack)


def _check_pack(size: int) -> None:
    if size < 0:
        raise ValueError(f"bytes_per_pack must be 0 or more, but is {size}.")
