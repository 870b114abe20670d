"""Devices to a mesh: which devices take part in a step, and along which axis they are laid out.

A *mesh* is an array of devices with named axes (`jax.sharding.Mesh`). A *replica* is one position
along the axis `"replica"`: it runs the step on its share of the global batch. Other axes are room for
splitting one replica's work over several devices (a model axis).

*Simulated devices* are CPU devices made out of one processor, to try many replicas without hardware.
"""

import os
import re
from collections.abc import Mapping, Sequence

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from spmd import _jax_internals
from spmd.errors import MeshError
from spmd.lowering import share_one_arena
from spmd.lowering.compilation_cache import keep_compiled_programs
from spmd.topology.devices import Device, find_devices

REPLICA_AXIS = "replica"

_COUNT_FLAG = "--xla_force_host_platform_device_count"


def make_mesh(devices: Sequence[str | Device] | None = None, *, local: bool = False) -> Mesh:
    """Makes a one-dimensional mesh whose only axis is `"replica"`.

    Starts the backend, and keeps compiled programs on disk from then on (`enable_compilation_cache`). Across
    hosts every process must call it with the same devices; one of local devices is each process's own.

    Args:
        devices: devices or device strings, one per replica; None takes every device of the default
            platform, those of other processes included.
        local: whether None takes the devices of this process only.

    Returns:
        A mesh of shape `(number of devices,)`.

    Raises:
        MeshError: no device is named, a device does not exist, or platforms are mixed.

    Examples:
        >>> make_mesh(["cpu:0", "cpu:1"]).shape["replica"]
        2

    Source: `jax.make_mesh`.
    """
    keep_compiled_programs()
    share_one_arena()
    if devices is None:
        found: Sequence[Device] = jax.local_devices() if local else jax.devices()
    else:
        found = find_devices(devices)
    if not found:
        raise MeshError("A mesh needs one device at least, but `devices` is empty.")
    platforms = sorted({device.platform for device in found})
    if len(platforms) > 1:
        raise MeshError(
            f"A mesh needs devices of one platform, but these are of {', '.join(platforms)}: "
            f"{[str(device) for device in found]}. Name devices of one platform only."
        )
    array = np.empty(len(found), dtype=object)
    array[:] = found
    return Mesh(array, (REPLICA_AXIS,), axis_types=(AxisType.Auto,))


def num_replicas(mesh: Mesh) -> int:
    """Tells how many replicas a mesh has.

    Args:
        mesh: a mesh with the axis `"replica"`.

    Returns:
        The size of that axis.

    Raises:
        MeshError: the mesh has no such axis.

    Examples:
        >>> num_replicas(make_mesh(["cpu:0"]))
        1
    """
    if REPLICA_AXIS not in mesh.shape:
        raise MeshError(
            f"Expected a mesh with the axis {REPLICA_AXIS!r}, but this one has {mesh.axis_names}. "
            "Make one with spmd.make_mesh(devices)."
        )
    return mesh.shape[REPLICA_AXIS]


def split_sharding(mesh: Mesh) -> NamedSharding:
    """Returns the sharding of what is split: every replica has a block of the first axis.

    Args:
        mesh: a mesh with the axis `"replica"`.

    Examples:
        >>> split_sharding(make_mesh(["cpu:0", "cpu:1"])).shard_shape((8, 3))
        (4, 3)
    """
    return NamedSharding(mesh, PartitionSpec(REPLICA_AXIS))


def whole_sharding(mesh: Mesh) -> NamedSharding:
    """Returns the sharding of what is whole: every device has all of it.

    Args:
        mesh: where it is.

    Examples:
        >>> whole_sharding(make_mesh(["cpu:0", "cpu:1"])).shard_shape((8, 3))
        (8, 3)
    """
    return NamedSharding(mesh, PartitionSpec())


def simulate_devices(count: int) -> None:
    """Splits this machine's processor into several CPU devices; call it before JAX starts.

    Also makes XLA's thread pool large enough: with fewer threads than devices the in-process
    all-reduce waits for threads that never come, and XLA aborts the process.

    Args:
        count: how many CPU devices there shall be, at least 1.

    Raises:
        MeshError: `count` is below 1, or the backend already runs with another number of devices.

    Examples:
        >>> import spmd
        >>> spmd.simulate_devices(8)
        >>> len(spmd.make_mesh(["cpu"]).devices)
        8
    """
    if count < 1:
        raise MeshError(f"simulate_devices needs 1 device at least, but was asked for {count}.")
    if _jax_internals.backend_is_running():
        running = len(jax.devices("cpu"))
        if running == count:
            return
        raise MeshError(
            f"simulate_devices({count}) came too late: the JAX backend already runs with "
            f"{running} CPU device(s). Call it at the top of the script, before anything that makes "
            "an array or asks for devices."
        )
    share_one_arena()
    os.environ.update(simulation_environment(count, os.environ))
    # Both the option and the flag exist; the option wins, but child processes see only the flag.
    jax.config.update("jax_num_cpu_devices", count)


def simulation_environment(count: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Tells which variables split the processor into several devices for a process that is not started yet.

    Args:
        count: how many CPU devices there shall be.
        environment: the variables that the process would have otherwise.

    Returns:
        The variables to set.

    Examples:
        >>> simulation_environment(2, {"NPROC": "64"})["XLA_FLAGS"]
        '--xla_force_host_platform_device_count=2'
    """
    flags = re.sub(rf"{_COUNT_FLAG}=\d+", "", environment.get("XLA_FLAGS", "")).strip()
    variables = {"XLA_FLAGS": f"{flags} {_COUNT_FLAG}={count}".strip()}
    # XLA sizes its pool by NPROC. Two threads a device, since one may wait in a collective, and a few more.
    # Not many more: XLA divides each operation among all of them, and 16 on two cores take twice the time.
    threads = max(2 * count + 4, os.cpu_count() or 1)
    if count > 1 and int(environment.get("NPROC", "0") or 0) < threads:
        variables["NPROC"] = str(threads)
    return variables
