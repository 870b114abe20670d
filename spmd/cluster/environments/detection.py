"""Whether JAX can find its cluster by itself, without a description."""

import importlib.util
from collections.abc import Mapping

from spmd.cluster.environments.slurm import from_slurm

# What jax.distributed reads in a Slurm step.
_SLURM_VARIABLES = {
    f"SLURM_{name}" for name in ("JOB_ID", "STEP_NODELIST", "NTASKS", "PROCID", "LOCALID")
}


def jax_detection_method(environment: Mapping[str, str]) -> str | None:
    """Tells from environment variables whether `jax.distributed.initialize` needs no arguments.

    Args:
        environment: environment variables.

    Returns:
        `cluster_detection_method` for `jax.distributed.initialize`: `"slurm"` in a Slurm step of several
        tasks, `"gketpu"` on a Cloud TPU of several hosts under Kubernetes; else None.

    Raises:
        ClusterConfigError: a variable of Slurm's is malformed.

    Examples:
        >>> jax_detection_method({}) is None
        True
    """
    if environment.keys() >= _SLURM_VARIABLES and from_slurm(environment) is not None:
        return "slurm"
    # Variables list TPU hosts under Kubernetes. On Google Compute Engine JAX asks the machine's metadata server,
    # which this function does not.
    hosts = environment.get("TPU_PROCESS_ADDRESSES", environment.get("TPU_WORKER_HOSTNAMES", ""))
    slices = environment.get("MEGASCALE_NUM_SLICES", "1")
    several = hosts and ("," in hosts or slices != "1")
    return "gketpu" if several and importlib.util.find_spec("libtpu") else None
