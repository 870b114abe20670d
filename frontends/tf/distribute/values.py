"""`tf.distribute.DistributedValues`: what the engine's per-replica values are to TensorFlow's scripts."""

import abc
import dataclasses
from typing import Any

from spmd.replica import HostPerReplica, PerReplica, TracedPerReplica


class _Kind(abc.ABCMeta):
    """Asks a value itself whether it is distributed, where its class alone does not say so."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) and getattr(instance, "_is_distributed", True)


class DistributedValues(metaclass=_Kind):
    """One value for each replica; results of `strategy.run` and leaves of distributed batches are such.

    Variables are such if their strategy keeps a component of them on each replica, as `MirroredStrategy` does.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
        >>> isinstance(strategy.run(lambda: 1.0), tf.distribute.DistributedValues)
        True

    With one replica, TensorFlow gives plain tensors; here such a value can be used as one (`numpy()`, `shape`,
    arithmetic, functions of `tf`), but `x[0]`, `len(x)` and iteration go by replica: write
    `x.values[0][0]` or `x.numpy()[0]` for the first row.

    Source: `tf.distribute.DistributedValues`.
    """


DistributedValues.register(PerReplica)
DistributedValues.register(TracedPerReplica)
DistributedValues.register(HostPerReplica)


@dataclasses.dataclass(frozen=True)
class PerReplicaSpec:
    """Shape and type of what each replica has.

    Attributes:
        value_specs: a `tf.TensorSpec` for each replica.

    Source: the class of the same name that `tf.distribute.DistributedDataset.element_spec` holds.
    """

    value_specs: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self.value_specs))})"
