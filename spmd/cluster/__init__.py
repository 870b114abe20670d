"""What a cluster is, how a process finds out about it, and how it joins and leaves it.

A *job* is a role and its *tasks*: `worker` has tasks `worker 0`, `worker 1` and so on, each one process
with an address. The tasks that train are the *processes*: the chief first, then the workers.

    cluster = spmd.cluster.from_tf_config()
    if cluster is not None:
        print(cluster.task, "is process", cluster.process_id, "of", len(cluster.processes))
"""

from spmd.cluster.address import LAST_PORT as LAST_PORT
from spmd.cluster.address import canonical_host as canonical_host
from spmd.cluster.address import is_loopback as is_loopback
from spmd.cluster.address import join_address as join_address
from spmd.cluster.address import read_address as read_address
from spmd.cluster.address import read_port as read_port
from spmd.cluster.address import split_address as split_address
from spmd.cluster.config import Cluster as Cluster
from spmd.cluster.config import Task as Task
from spmd.cluster.config import from_tasks as from_tasks
from spmd.cluster.environments.detection import gce_tpu_hosts as gce_tpu_hosts
from spmd.cluster.environments.detection import jax_detection_method as jax_detection_method
from spmd.cluster.environments.ray import RAY_ADDRESS_VARIABLE as RAY_ADDRESS_VARIABLE
from spmd.cluster.environments.ray import ray_address as ray_address
from spmd.cluster.environments.slurm import SlurmStep as SlurmStep
from spmd.cluster.environments.slurm import from_slurm as from_slurm
from spmd.cluster.environments.tf_config import TFConfig as TFConfig
from spmd.cluster.environments.tf_config import from_tf_config as from_tf_config
from spmd.cluster.environments.tf_config import read_tf_config as read_tf_config
from spmd.cluster.error_file import ERROR_FILE_VARIABLE as ERROR_FILE_VARIABLE
from spmd.cluster.exit_codes import RESTART_LIMIT_VARIABLE as RESTART_LIMIT_VARIABLE
from spmd.cluster.exit_codes import RESTART_VARIABLE as RESTART_VARIABLE
from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE as RETRYABLE_EXIT_CODE
from spmd.cluster.health import HEALTH_VARIABLE as HEALTH_VARIABLE
from spmd.cluster.health import current_health as current_health
from spmd.cluster.job_token import TOKEN_PATH_VARIABLE as TOKEN_PATH_VARIABLE
from spmd.cluster.job_token import TOKEN_VARIABLE as TOKEN_VARIABLE
from spmd.cluster.job_token import is_proof as is_proof
from spmd.cluster.job_token import make_challenge as make_challenge
from spmd.cluster.job_token import prove as prove
from spmd.cluster.job_token import read_token as read_token
from spmd.cluster.notice import Notice as Notice
from spmd.cluster.progress import progress as progress
from spmd.cluster.runtime import initialize as initialize
from spmd.cluster.runtime import process_id as process_id
from spmd.cluster.runtime import shutdown as shutdown
from spmd.cluster.runtime import start_health as start_health
from spmd.cluster.runtime import wait_seconds as wait_seconds
from spmd.cluster.shared_random import SharedDraws as SharedDraws
from spmd.cluster.shared_random import shared_seed as shared_seed
from spmd.cluster.store import all_gather_small as all_gather_small
from spmd.cluster.strangers import ANSWER_SECONDS as ANSWER_SECONDS
from spmd.cluster.strangers import Refusals as Refusals
from spmd.cluster.strangers import Strangers as Strangers
from spmd.cluster.strangers import plain as plain
from spmd.cluster.thread_pool import schedule_pool_as_batch as schedule_pool_as_batch
from spmd.cluster.wire import Line as Line
from spmd.cluster.wire import connect as connect
from spmd.cluster.wire import listen as listen
from spmd.cluster.wire import readable as readable
