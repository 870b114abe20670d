"""What a cluster is, how a process finds out about it, and how it joins and leaves it.

A *job* is a role and its *tasks*: `worker` has tasks `worker 0`, `worker 1` and so on, each one process
with an address. The tasks that train are the *processes*: the chief first, then the workers.

    cluster = spmd.cluster.from_tf_config()
    if cluster is not None:
        print(cluster.task, "is process", cluster.process_id, "of", len(cluster.processes))
"""

from spmd.cluster.config import Cluster, Task, from_tasks
from spmd.cluster.environments.detection import jax_detection_method
from spmd.cluster.environments.slurm import SlurmStep, from_slurm
from spmd.cluster.environments.tf_config import TFConfig, from_tf_config, read_tf_config
from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.cluster.notice import Notice
from spmd.cluster.progress import progress
from spmd.cluster.runtime import initialize, process_id, shutdown, wait_seconds
from spmd.cluster.shared_random import SharedDraws, shared_seed
from spmd.cluster.store import all_gather_small

__all__ = [
    "RETRYABLE_EXIT_CODE",
    "Cluster",
    "Notice",
    "SharedDraws",
    "SlurmStep",
    "TFConfig",
    "Task",
    "all_gather_small",
    "from_slurm",
    "from_tasks",
    "from_tf_config",
    "initialize",
    "jax_detection_method",
    "process_id",
    "progress",
    "read_tf_config",
    "shared_seed",
    "shutdown",
    "wait_seconds",
]
