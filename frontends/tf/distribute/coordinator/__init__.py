"""`tf.distribute.coordinator`: hands functions out to the workers of parameter server training."""

from frontends.tf import _names
from frontends.tf.distribute.coordinator.cluster_coordinator import (
    ClusterCoordinator as ClusterCoordinator,
)
from frontends.tf.distribute.coordinator.per_worker import PerWorkerValues as PerWorkerValues
from frontends.tf.distribute.coordinator.per_worker import (
    experimental_get_current_worker_index as experimental_get_current_worker_index,
)
from frontends.tf.distribute.coordinator.remote_value import RemoteValue as RemoteValue

# Its name in `tf.distribute.coordinator`; the other is that of the experimental module.
PerWorkerValue = PerWorkerValues
__getattr__, __dir__ = _names.attributes("tf.distribute.coordinator", _names.exported_by(__name__))
