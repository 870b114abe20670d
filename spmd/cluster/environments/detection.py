"""Whether JAX can find its cluster by itself, without a description."""

import importlib.util
import urllib.error
import urllib.request
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


def gce_tpu_hosts(environment: Mapping[str, str], timeout_seconds: float = 5) -> int:
    """Asks a machine of Google Compute Engine how many hosts its TPU has; call it on machines with TPU chips only.

    `jax.distributed.initialize` asks the same server, and needs no arguments there.

    Args:
        environment: environment variables; GCE_METADATA_IP names another server.
        timeout_seconds: how long to wait for an answer.

    Returns:
        The number of hosts; 1 if there is no such server, or it knows nothing of a TPU.
    """
    server = environment.get("GCE_METADATA_IP", "metadata.google.internal")
    url = f"http://{server}/computeMetadata/v1/instance/attributes/worker-network-endpoints"
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    if "TPU_SKIP_MDS_QUERY" in environment:
        return 1
    try:
        with urllib.request.urlopen(request, timeout=timeout_seconds) as answer:
            hosts = answer.read().decode().strip()
    except (urllib.error.URLError, OSError):
        return 1
    return 1 + hosts.count(",")
