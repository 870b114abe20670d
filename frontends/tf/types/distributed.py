"""`tf.types.experimental.distributed`: values that replicas have."""

from frontends.tf import _names
from frontends.tf.distribute.values import DistributedValues

__getattr__, __dir__ = _names.attributes(
    "tf.types.experimental.distributed",
    {"Mirrored": DistributedValues, "PerReplica": DistributedValues},
)
