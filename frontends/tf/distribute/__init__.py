"""`tf.distribute`: strategies, and where the running code stands.

A *strategy* says on which devices a step runs. Its *replicas* run the same function on their share of
each global batch. *Cross-replica context* is code that sees all replicas; *replica context* is code
that `strategy.run` calls, as one of them.
"""

from frontends.tf._names import attributes
from frontends.tf.distribute import experimental
from frontends.tf.distribute.cross_device_ops import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReductionToOneDevice,
)
from frontends.tf.distribute.dataset import DistributedDataset, DistributedIterator
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.input import InputContext, InputOptions, InputReplicationMode
from frontends.tf.distribute.options import RunOptions
from frontends.tf.distribute.reduce_op import ReduceOp
from frontends.tf.distribute.replica_context import ReplicaContext, get_replica_context
from frontends.tf.distribute.scope import (
    experimental_set_strategy,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from frontends.tf.distribute.strategies.mirrored import MirroredStrategy
from frontends.tf.distribute.strategies.multi_worker_mirrored import MultiWorkerMirroredStrategy
from frontends.tf.distribute.strategies.one_device import OneDeviceStrategy
from frontends.tf.distribute.strategy import Strategy
from frontends.tf.distribute.values import DistributedValues

__all__ = [
    "CrossDeviceOps",
    "DistributedDataset",
    "DistributedIterator",
    "DistributedValues",
    "HierarchicalCopyAllReduce",
    "InputContext",
    "InputOptions",
    "InputReplicationMode",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "NcclAllReduce",
    "OneDeviceStrategy",
    "ReduceOp",
    "ReductionToOneDevice",
    "ReplicaContext",
    "RunOptions",
    "Strategy",
    "StrategyExtended",
    "experimental",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]

# Lazy, because it imports tf.train, whose checkpoints take long to import.
_LAZY = {"cluster_resolver": "frontends.tf.distribute.cluster_resolver"}
__getattr__, __dir__ = attributes("tf.distribute", {}, _LAZY, __all__)
