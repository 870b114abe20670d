"""The environment of a worker process, and the packages that it needs."""

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from spmd.errors import PlanError
from spmd.plan.topologies import Topology
from spmd.topology import SIMULATE_VARIABLE, Slice, simulation_environment

_ROOT = Path(__file__).resolve().parents[2]

# No machine of Google's cloud is asked what it is; several processes may load the compiler at once.
_TPU = {
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
}
# There is no driver whose version could be compared with the plugin's.
_GPU = {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}
# In place of a cluster, for which the planned script would wait: scripts that read the variable find one worker.
_ALONE = {
    "TF_CONFIG": '{"cluster": {"worker": ["localhost:2222"]}, "task": {"type": "worker", "index": 0}}'
}


def worker_environment(topology: Topology, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of a process that plans for a topology.

    Args:
        topology: what it compiles for.
        environment: of this process. A cluster in TF_CONFIG is replaced by one worker.

    Examples:
        >>> from spmd.plan.topologies import parse_topology
        >>> found = worker_environment(parse_topology("v5e:2x2"), {})
        >>> found["JAX_PLATFORMS"], found["JAXTRIBUTE_SIMULATE"]
        ('cpu', 'tpu:v5e-4')
    """
    found = {name: _ALONE.get(name, value) for name, value in environment.items()}
    found |= simulation_environment(topology.devices, environment)
    found["JAX_PLATFORMS"] = "cpu"
    paths = [str(_ROOT), *filter(None, [environment.get("PYTHONPATH")])]
    found["PYTHONPATH"] = os.pathsep.join(paths)
    if topology.platform == "tpu":
        found |= _TPU
    if topology.platform == "gpu":
        found |= _GPU
    if topology.platform == "cpu":
        found.pop(SIMULATE_VARIABLE, None)
    else:
        count = topology.devices
        name = Slice(topology.chip, count).name if topology.platform == "tpu" else str(count)
        found[SIMULATE_VARIABLE] = f"{topology.platform}:{name}"
    return found


def check_compiler(topology: Topology) -> None:
    """Looks for the compiler for a topology, without loading it.

    Raises:
        PlanError: it is not installed.
    """
    if topology.platform == "tpu" and not _is_installed("libtpu"):
        raise PlanError(
            f"To compile for {topology}, XLA's compiler for TPUs is needed: the package libtpu, for Linux on "
            "x86-64, which is not installed here. It needs no TPU. Install it:\n"
            "    pip install 'jaxtribute[tpu-plan]'"
        )
    if topology.platform == "gpu":
        plugin = _is_installed("jax_plugins.xla_cuda12") or _is_installed("jax_plugins.xla_cuda13")
        found = _is_installed("nvidia.cuda_nvcc") or _is_installed("nvidia.cu13")
        missing = [] if plugin else ["JAX's CUDA plugin"]
        if not found and shutil.which("ptxas") is None:
            missing.append("NVIDIA's assembler, ptxas")
        if missing:
            raise PlanError(
                f"To compile for {topology}, {' and '.join(missing)} is needed, which is not installed here. It "
                "needs no GPU. Install it:\n    pip install 'jaxtribute[gpu-plan]'"
            )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False
