"""`tf.train.CheckpointOptions`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CheckpointOptions:
    """How a checkpoint is written.

    Attributes:
        experimental_io_device: accepted; each process writes what it has.
        experimental_enable_async_checkpoint: whether `save` and `write` return once the state may change, before the
            checkpoint is on disk; `checkpoint.sync()` waits for it.
        experimental_write_callbacks: called when the checkpoint is complete, with its path, or without arguments;
            by each process, or by a thread of process 0 if the checkpoint is written asynchronously.
        enable_async: the same as `experimental_enable_async_checkpoint`.
        experimental_skip_slot_variables: accepted as False.
        experimental_sharding_callback: accepted; each process writes files of its own.

    Source: `tf.train.CheckpointOptions`.
    """

    experimental_io_device: Any = None
    experimental_enable_async_checkpoint: bool = False
    experimental_write_callbacks: Sequence[Callable[..., Any]] | None = None
    enable_async: bool = False
    experimental_skip_slot_variables: bool = False
    experimental_sharding_callback: Any = None

    def __post_init__(self) -> None:
        if self.experimental_skip_slot_variables:
            raise ValueError(
                "experimental_skip_slot_variables=True is not supported: the slots are saved as part of the "
                "optimizer. Leave the optimizer out: tf.train.Checkpoint(model=model)."
            )

    @property
    def is_async(self) -> bool:
        """Whether the checkpoint is written while the script goes on."""
        return self.experimental_enable_async_checkpoint or self.enable_async
