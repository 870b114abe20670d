"""`tf.distribute.experimental`: strategies and options that TensorFlow may still change."""

from frontends.tf._names import attributes
from frontends.tf.distribute.experimental import partitioners
from frontends.tf.distribute.input import ValueContext
from frontends.tf.distribute.options import (
    CollectiveHints,
    CommunicationImplementation,
    CommunicationOptions,
)
from frontends.tf.distribute.options import CommunicationImplementation as CollectiveCommunication
from frontends.tf.distribute.preemption_checkpoint_handler import PreemptionCheckpointHandler
from frontends.tf.distribute.preemption_watcher import PreemptionWatcher
from frontends.tf.distribute.strategies.central_storage import CentralStorageStrategy
from frontends.tf.distribute.strategies.multi_worker_mirrored import MultiWorkerMirroredStrategy
from frontends.tf.distribute.termination_config import TerminationConfig

__all__ = [
    "CentralStorageStrategy",
    "CollectiveCommunication",
    "CollectiveHints",
    "CommunicationImplementation",
    "CommunicationOptions",
    "MultiWorkerMirroredStrategy",
    "PreemptionCheckpointHandler",
    "PreemptionWatcher",
    "TerminationConfig",
    "ValueContext",
    "partitioners",
]

__getattr__, __dir__ = attributes("tf.distribute.experimental", {}, present=__all__)
