"""Whether JAX finds its cluster by itself, so that nobody has to describe it."""

import importlib.util
from collections.abc import Mapping

from spmd.cluster.environments.slurm import from_slurm

# What jax.distributed reads in a Slurm step.
_SLURM = ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID")


def jax_detection_method(environment: Mapping[str, str]) -> str | None:
    """Tells from environment variables whether `jax.distributed.initialize` needs no arguments.

    On Google Compute Engine a Cloud TPU has no such variables: there JAX asks the machine's metadata
    server, which this does not.

    Args:
        environment: environment variables.

    Returns:
        `cluster_detection_method` for `jax.distributed.initialize`: `"slurm"` in a Slurm step of several
        tasks, `"gketpu"` on a Cloud TPU of several hosts under Kubernetes; else None.

    Raises:
        ClusterConfigError: a variable of Slurm's cannot be read.

    Examples:
        >>> jax_detection_method({}) is None
        True
    """
    if all(name in environment for name in _SLURM) and from_slurm(environment) is not None:
        return "slurm"
    hosts = environment.get("TPU_PROCESS_ADDRESSES", environment.get("TPU_WORKER_HOSTNAMES", ""))
    slices = environment.get("MEGASCALE_NUM_SLICES", "1")
    if hosts and ("," in hosts or slices != "1") and importlib.util.find_spec("libtpu") is not None:
        return "gketpu"
    return None
