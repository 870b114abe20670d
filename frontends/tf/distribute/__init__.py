"""`tf.distribute`: strategies, and where the running code stands.

A *strategy* says on which devices a step runs. Its *replicas* run the same function on their share of
each global batch. *Cross-replica context* is code that sees all replicas; *replica context* is code
that `strategy.run` calls, as one of them.
"""

from frontends.tf import _names
from frontends.tf.distribute.cross_device_ops import CrossDeviceOps as CrossDeviceOps
from frontends.tf.distribute.cross_device_ops import (
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
)
from frontends.tf.distribute.cross_device_ops import NcclAllReduce as NcclAllReduce
from frontends.tf.distribute.cross_device_ops import ReductionToOneDevice as ReductionToOneDevice
from frontends.tf.distribute.dataset import DistributedDataset as DistributedDataset
from frontends.tf.distribute.dataset import DistributedIterator as DistributedIterator
from frontends.tf.distribute.extended import StrategyExtended as StrategyExtended
from frontends.tf.distribute.input import InputContext as InputContext
from frontends.tf.distribute.input import InputOptions as InputOptions
from frontends.tf.distribute.input import InputReplicationMode as InputReplicationMode
from frontends.tf.distribute.options import RunOptions as RunOptions
from frontends.tf.distribute.reduce_op import ReduceOp as ReduceOp
from frontends.tf.distribute.replica_context import ReplicaContext as ReplicaContext
from frontends.tf.distribute.replica_context import get_replica_context as get_replica_context
from frontends.tf.distribute.scope import experimental_set_strategy as experimental_set_strategy
from frontends.tf.distribute.scope import get_strategy as get_strategy
from frontends.tf.distribute.scope import has_strategy as has_strategy
from frontends.tf.distribute.scope import in_cross_replica_context as in_cross_replica_context
from frontends.tf.distribute.server import Server as Server
from frontends.tf.distribute.strategies.mirrored import MirroredStrategy as MirroredStrategy
from frontends.tf.distribute.strategies.multi_worker_mirrored import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from frontends.tf.distribute.strategies.one_device import OneDeviceStrategy as OneDeviceStrategy
from frontends.tf.distribute.strategies.parameter_server import (
    ParameterServerStrategy as ParameterServerStrategy,
)
from frontends.tf.distribute.strategies.tpu import TPUStrategy as TPUStrategy
from frontends.tf.distribute.strategy import Strategy as Strategy
from frontends.tf.distribute.values import DistributedValues as DistributedValues

# Lazy, because the first imports tf.train, whose checkpoints take long to import.
_LAZY = {
    name: f"frontends.tf.distribute.{name}"
    for name in ("cluster_resolver", "coordinator", "experimental")
}
__getattr__, __dir__ = _names.attributes("tf.distribute", _names.exported_by(__name__), _LAZY)
