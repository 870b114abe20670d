"""Where a process learns about its cluster: a module for each of TF_CONFIG, Slurm and Cloud TPU."""

from spmd.cluster.environments.cloud_tpu import has_several_tpu_hosts
from spmd.cluster.environments.detection import jax_detection_method
from spmd.cluster.environments.slurm import SlurmStep, from_slurm
from spmd.cluster.environments.tf_config import TFConfig, from_tf_config, read_tf_config

__all__ = [
    "SlurmStep",
    "TFConfig",
    "from_slurm",
    "from_tf_config",
    "has_several_tpu_hosts",
    "jax_detection_method",
    "read_tf_config",
]
