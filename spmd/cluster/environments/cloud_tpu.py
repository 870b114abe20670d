"""Cloud TPU: whether this process is one of several hosts."""

import importlib.util
from collections.abc import Mapping


def has_several_tpu_hosts(environment: Mapping[str, str]) -> bool:
    """Tells whether environment variables list several TPU hosts, and libtpu is installed.

    Kubernetes sets these variables. On Google Compute Engine JAX asks the machine's metadata server
    instead, which this function does not.

    Args:
        environment: environment variables.

    Examples:
        >>> has_several_tpu_hosts({"TPU_WORKER_HOSTNAMES": "localhost"})
        False
    """
    hosts = environment.get("TPU_PROCESS_ADDRESSES", environment.get("TPU_WORKER_HOSTNAMES", ""))
    slices = environment.get("MEGASCALE_NUM_SLICES", "1")
    if not hosts or ("," not in hosts and slices == "1"):
        return False
    return importlib.util.find_spec("libtpu") is not None
