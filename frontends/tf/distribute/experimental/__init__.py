"""`tf.distribute.experimental`: strategies and options that TensorFlow may still change."""

from frontends.tf import _names
from frontends.tf.distribute import coordinator as coordinator
from frontends.tf.distribute.experimental import partitioners as partitioners
from frontends.tf.distribute.input import ValueContext as ValueContext
from frontends.tf.distribute.options import CollectiveHints as CollectiveHints
from frontends.tf.distribute.options import (
    CommunicationImplementation as CommunicationImplementation,
)
from frontends.tf.distribute.options import CommunicationOptions as CommunicationOptions
from frontends.tf.distribute.preemption_checkpoint_handler import (
    PreemptionCheckpointHandler as PreemptionCheckpointHandler,
)
from frontends.tf.distribute.preemption_watcher import PreemptionWatcher as PreemptionWatcher
from frontends.tf.distribute.strategies.central_storage import (
    CentralStorageStrategy as CentralStorageStrategy,
)
from frontends.tf.distribute.strategies.multi_worker_mirrored import (
    ExperimentalMultiWorkerMirroredStrategy,
)
from frontends.tf.distribute.strategies.parameter_server import (
    ParameterServerStrategy as ParameterServerStrategy,
)
from frontends.tf.distribute.strategies.tpu import ExperimentalTPUStrategy
from frontends.tf.distribute.termination_config import TerminationConfig as TerminationConfig

TPUStrategy = ExperimentalTPUStrategy
MultiWorkerMirroredStrategy = ExperimentalMultiWorkerMirroredStrategy
CollectiveCommunication = CommunicationImplementation
__getattr__, __dir__ = _names.attributes(
    "tf.distribute.experimental",
    _names.exported_by(__name__),
    present=["coordinator", "partitioners"],
)
