"""How gradients travel, as TensorFlow names it; here XLA chooses the algorithm for the hardware."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class CrossDeviceOps:
    """A way to combine values of several devices.

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


@dataclasses.dataclass(frozen=True)
class _PackedAllReduce(CrossDeviceOps):
    num_packs: int = 1

    def __post_init__(self) -> None:
        if self.num_packs < 0:
            raise ValueError(f"num_packs must not be negative, but is {self.num_packs}.")


class NcclAllReduce(_PackedAllReduce):
    """All-reduce by NCCL, as XLA does on NVIDIA GPUs anyway.

    Attributes:
        num_packs: into how many packs TensorFlow put the values; XLA's combiner decides here.

    Source: `tf.distribute.NcclAllReduce`.
    """


class HierarchicalCopyAllReduce(_PackedAllReduce):
    """All-reduce in two levels, made for DGX-1 machines.

    Attributes:
        num_packs: into how many packs TensorFlow put the values; XLA's combiner decides here.

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
