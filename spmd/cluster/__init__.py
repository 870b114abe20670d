"""What a cluster is, from what its environment says, and how a process joins it and leaves it.

A *job* is a role and its *tasks*: `worker` has tasks `worker 0`, `worker 1` and so on, each one process
with an address. The tasks that train are the *processes*: the chief first, then the workers.

    cluster = spmd.cluster.from_tf_config()
    if cluster is not None:
        print(cluster.task, "is process", cluster.process_id, "of", len(cluster.processes))
"""

from spmd.cluster.config import Cluster, Task, from_tasks, from_tf_config
from spmd.cluster.environments.detection import jax_detection_method
from spmd.cluster.environments.slurm import from_slurm
from spmd.cluster.environments.tf_config import TFConfig, read_tf_config
from spmd.cluster.runtime import initialize, shutdown

__all__ = [
    "Cluster",
    "TFConfig",
    "Task",
    "from_slurm",
    "from_tasks",
    "from_tf_config",
    "initialize",
    "jax_detection_method",
    "read_tf_config",
    "shutdown",
]
