"""Devices that are not here: what XLA's own compilers for TPUs and GPUs take in the place of hardware.

Only a process of `spmd.plan.worker` asks for them, because that loads libtpu or the CUDA plugin.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh

from spmd.errors import PlanError
from spmd.plan.topologies import Topology
from spmd.topology import in_physical_order

# What XLA has to know of a GPU. Source: openxla/xla, xla/backends/gpu/target_config/specs/{h100_sxm,h200,a100_sxm_80}.txtpb;
# the version of cuDNN is the oldest that JAX 0.10 still takes.
_GPU_TEXT = """gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {shared}
  threads_per_core_limit: 2048
  core_count: {cores}
  fpus_per_core: {units}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  memory_bandwidth: {bandwidth}
  l2_cache_size: {cache}
  clock_rate_ghz: {clock}
  device_memory_size: {memory}
  shared_memory_per_block_optin: {optin}
  cuda_compute_capability {{ major: {major} }}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 }}
device_description_str: "{name}"
"""
_GPUS: dict[str, dict[str, Any]] = {
    "h100": {
        "shared": 233472,
        "cores": 132,
        "units": 128,
        "bandwidth": 3352320000000,
        "cache": 52428800,
        "clock": 1.98,
        "memory": 84942979072,
        "optin": 232448,
        "major": 9,
        "name": "NVIDIA H100 80GB HBM3",
    },
    "h200": {
        "shared": 233472,
        "cores": 132,
        "units": 128,
        "bandwidth": 4800000000000,
        "cache": 52428800,
        "clock": 1.98,
        "memory": 151397597184,
        "optin": 232448,
        "major": 9,
        "name": "NVIDIA H200 141GB HBM3e",
    },
    "a100": {
        "shared": 167936,
        "cores": 108,
        "units": 64,
        "bandwidth": 2039040000000,
        "cache": 41943040,
        "clock": 1.41,
        "memory": 85100068864,
        "optin": 166912,
        "major": 8,
        "name": "NVIDIA A100-SXM4-80GB",
    },
}
# Chips with two cores that a program sees as one device, which is how Google Cloud has them.
_MEGACORE = ("v4", "v5p")


def find_target_devices(topology: Topology) -> list[Any]:
    """Returns the devices of a topology that is not here.

    Args:
        topology: TPUs or GPUs.

    Raises:
        PlanError: XLA's compiler for them refuses the topology.
    """
    sides = "x".join(map(str, topology.shape))
    options: dict[str, Any] = {}
    if topology.platform == "tpu":
        name, platform = f"{topology.chip}:{sides}", "tpu"
        if topology.slices > 1:
            options["num_slices"] = topology.slices
        if topology.chip in _MEGACORE:
            options["chip_config_name"] = "megacore"
        if topology.devices == topology.slices:
            options["chips_per_host_bounds"] = (1, 1, 1)
    else:
        name, platform = topology.chip, "cuda"
        options["target_config"] = _GPU_TEXT.format(**_GPUS[topology.chip])
        options["topology"] = f"{topology.slices}x1x{topology.shape[0]}"
    try:
        found = list(topologies.get_topology_desc(name, platform, **options).devices)
    except Exception as error:
        raise PlanError(f"XLA cannot compile for {topology}: {error}") from error
    if len(found) != topology.devices:
        raise PlanError(f"{topology} has {topology.devices} chips, but XLA finds {len(found)}.")
    return found


def target_mesh(mesh: Mesh, devices: Sequence[Any]) -> Mesh:
    """Lays devices out as `spmd.make_mesh` does where they are: neighbours in the mesh are neighbours in the topology.

    Args:
        mesh: of simulated devices, which stand for the devices.
        devices: as many, or more.

    Returns:
        A mesh of the same shape and axes. If it takes some of the devices, these are neighbours, too.
    """
    chosen = np.array(in_physical_order(devices)[: mesh.size]).reshape(mesh.devices.shape)
    return Mesh(chosen, mesh.axis_names, axis_types=mesh.axis_types)
