"""Where a process learns its cluster from: TF_CONFIG, Slurm, or what JAX detects."""

from spmd.cluster.environments.detection import jax_detection_method
from spmd.cluster.environments.slurm import (
    expand_hostlist,
    from_slurm,
    read_number,
    read_variable,
    tasks_by_host,
)
from spmd.cluster.environments.tf_config import TFConfig, from_tf_config, read_tf_config

__all__ = [
    "TFConfig",
    "expand_hostlist",
    "from_slurm",
    "from_tf_config",
    "jax_detection_method",
    "read_number",
    "read_tf_config",
    "read_variable",
    "tasks_by_host",
]
