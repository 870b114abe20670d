"""How gradients travel, as TensorFlow names it; XLA chooses the algorithm for the hardware, with one exception."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import spmd
from frontends.tf._typing import TensorLike
from frontends.tf.distribute.options import CollectiveHints
from frontends.tf.distribute.reduce_op import ReduceOp, op_name
from frontends.tf.distribute.values import DistributedValues


@dataclasses.dataclass(frozen=True)
class CrossDeviceOps:
    """An algorithm that combines values of several devices.

    Scripts pass one to a strategy. XLA compiles all-reduces for the hardware itself (NCCL rings and
    trees on GPUs, the interconnect of a TPU), so the choice is accepted and changes no result.

    Examples:
        >>> from frontends import tf
        >>> tf.distribute.MirroredStrategy(
        ...     ["cpu:0"], cross_device_ops=tf.distribute.NcclAllReduce()
        ... ).num_replicas_in_sync
        1

    Source: `tf.distribute.CrossDeviceOps`.
    """

    def reduce(
        self,
        reduce_op: ReduceOp | str,
        per_replica_value: TensorLike,
        destinations: object,
        options: CollectiveHints | None = None,
    ) -> Any:
        """Combines a per-replica value into one.

        Raises:
            ValueError: unknown reduction.

        Source: `tf.distribute.CrossDeviceOps.reduce`.
        """
        op = op_name(reduce_op)
        split = isinstance(per_replica_value, DistributedValues)
        return spmd.reduce(per_replica_value, op) if split else per_replica_value

    def batch_reduce(
        self,
        reduce_op: ReduceOp | str,
        value_destination_pairs: Iterable[tuple[Any, Any]],
        options: CollectiveHints | None = None,
    ) -> list[Any]:
        """Combines several per-replica values into one each; see `reduce`.

        Raises:
            ValueError: unknown reduction.

        Source: `tf.distribute.CrossDeviceOps.batch_reduce`.
        """
        return [
            self.reduce(reduce_op, value, destination, options)
            for value, destination in value_destination_pairs
        ]

    def broadcast(self, tensor: TensorLike, destinations: object) -> Any:
        """Returns a value as it is: one array is on every device.

        Source: `tf.distribute.CrossDeviceOps.broadcast`.
        """
        return tensor


@dataclasses.dataclass(frozen=True)
class _PackedAllReduce(CrossDeviceOps):
    num_packs: int = 1

    def __post_init__(self) -> None:
        if self.num_packs < 0:
            raise ValueError(f"num_packs must not be negative, but is {self.num_packs}.")


class NcclAllReduce(_PackedAllReduce):
    """All-reduce by NCCL, as XLA does on NVIDIA GPUs anyway.

    Attributes:
        num_packs: into how many buckets TensorFlow put the values; XLA's combiner decides here.

    Source: `tf.distribute.NcclAllReduce`.
    """


class HierarchicalCopyAllReduce(_PackedAllReduce):
    """All-reduce in two levels, made for DGX-1 machines: in each half of the devices, and between them.

    Attributes:
        num_packs: into how many buckets TensorFlow put the values; XLA's combiner decides here.

    Source: `tf.distribute.HierarchicalCopyAllReduce`.
    """


@dataclasses.dataclass(frozen=True)
class ReductionToOneDevice(CrossDeviceOps):
    """Copy to one device, combine there, and copy back.

    Attributes:
        reduce_to_device: the device; XLA reduces in place on all of them.
        accumulation_fn: how to combine; only the default sum is supported.

    Source: `tf.distribute.ReductionToOneDevice`.
    """

    reduce_to_device: str | None = None
    accumulation_fn: None = None

    def __post_init__(self) -> None:
        if self.accumulation_fn is not None:
            raise ValueError(
                f"accumulation_fn={self.accumulation_fn!r} is not supported: XLA's all-reduce sums. "
                "Leave it out."
            )
