"""Devices to a mesh: which devices take part in a step, and along which axes they are laid out.

A *mesh* is an array of devices with named axes (`jax.sharding.Mesh`). `spmd.topology.layout` says what the
axes mean.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.sharding import Mesh

from spmd.errors import MeshError
from spmd.lowering import keep_compiled_programs, share_one_arena
from spmd.topology.detection import leave_out_absent_accelerators
from spmd.topology.devices import Device, all_devices, find_devices, local_devices
from spmd.topology.layout import grouped_mesh, replica_mesh
from spmd.topology.physical import in_physical_order
from spmd.topology.simulation import warn_of_narrow_pool


def make_mesh(
    devices: Sequence[str | Device] | None = None,
    *,
    local: bool = False,
    model: int | Sequence[int] = 1,
) -> Mesh:
    """Makes a mesh with the axis `"replica"`, and with model axes if a replica is to have several devices.

    Starts the backend, and keeps compiled programs on disk from then on (`enable_compilation_cache`). Across
    hosts every process must call it with the same devices; one of local devices is each process's own.

    Args:
        devices: devices or device strings; None takes every device of the default platform, those of other
            processes included, and puts TPUs in the order of their links.
        local: whether None takes the devices of this process only.
        model: how many devices a replica has; they follow one another in `devices`. Several numbers make several model
            axes, so that an array can be divided along several of its axes (`spmd.replica.split_over_devices`).

    Returns:
        A mesh of shape `(number of devices,)` with the axis `"replica"`; or of shape `(replicas, model)` with the axes
        `"replica"` and `"model"`, or `"model_0"` and so on if `model` has several numbers.

    Raises:
        MeshError: no device is named, a device does not exist, platforms are mixed, devices do not divide by `model`,
            or a replica would have devices of several processes.

    Examples:
        >>> make_mesh(["cpu:0", "cpu:1"]).shape["replica"]
        2
        >>> dict(make_mesh([f"cpu:{i}" for i in range(8)], model=2).shape)
        {'replica': 4, 'model': 2}

    Source: `jax.make_mesh`.
    """
    _prepare()
    if devices is None:
        found: Sequence[Device] = in_physical_order(local_devices() if local else all_devices())
    else:
        found = find_devices(devices)
    sizes = (model,) if isinstance(model, int) else tuple(model)
    each = math.prod(sizes)
    if min(sizes, default=1) < 1 or len(found) % each:
        raise MeshError(
            f"{len(found)} device(s) cannot be divided among replicas of {' x '.join(map(str, sizes))} device(s), as "
            f"model={model!r} asks for. Take a number that divides {len(found)}."
        )
    if each == 1:
        _check(found)
        return replica_mesh(found)
    return mesh_of_replicas(_array(found, (len(found) // each, *sizes)))


def mesh_of_replicas(devices: np.ndarray[Any, Any]) -> Mesh:
    """Makes a mesh of an array that says which devices each replica has.

    Args:
        devices: array of devices, of shape `(replicas,)`, or `(replicas, m, ...)` for replicas of several devices: each
            axis after the first is a model axis.

    Returns:
        The mesh, as `make_mesh` makes it.

    Raises:
        MeshError: the array is empty, a device is in it twice, platforms are mixed, or a replica has devices of
            several processes.

    Examples:
        >>> import numpy as np
        >>> cores = np.array(find_devices(["cpu"])[:8]).reshape(4, 2)
        >>> dict(mesh_of_replicas(cores).shape)
        {'replica': 4, 'model': 2}

    Source: `tf.tpu.experimental.DeviceAssignment`.
    """
    _prepare()
    flat = list(devices.flat)
    _check(flat)
    if len(set(flat)) < len(flat):
        raise MeshError(f"A device may belong to one replica only, but there are {flat}.")
    rows = devices.reshape(len(devices), -1)
    if rows.shape[1] == 1:
        return replica_mesh(flat)
    for index, row in enumerate(rows):
        processes = sorted({device.process_index for device in row})
        if len(processes) > 1:
            raise MeshError(
                f"The devices of a replica must belong to one process, since each process reads the rows of its own "
                f"replicas, but those of replica {index} belong to the processes {processes}: {list(row)}. Group the "
                "devices of each process, or take fewer for a replica."
            )
    return grouped_mesh(devices)


def mesh_of_cores(devices: np.ndarray[Any, Any]) -> Mesh:
    """Makes a mesh of replicas and their logical devices, for arrays to be divided among these in any way.

    A model axis of a mesh divides one axis of an array. So the logical devices become one model axis for each prime
    factor of their number: 4 of them can be `(4, 1)`, `(2, 2)` and `(1, 4)` parts.

    Args:
        devices: array of devices, of shape `(replicas, logical devices)`.

    Returns:
        The mesh.

    Raises:
        MeshError: as `mesh_of_replicas` does.

    Examples:
        >>> import numpy as np
        >>> cores = np.array(find_devices(["cpu"])[:8]).reshape(2, 4)
        >>> dict(mesh_of_cores(cores).shape)
        {'replica': 2, 'model_0': 2, 'model_1': 2}

    Source: `tf.distribute.TPUStrategy`, with `experimental_device_assignment`.
    """
    replicas, cores = devices.shape
    return mesh_of_replicas(devices.reshape(replicas, *_prime_factors(cores)))


def _prepare() -> None:
    """Sets up what starting the backend and compiling steps need."""
    warn_of_narrow_pool()
    leave_out_absent_accelerators()
    keep_compiled_programs()
    share_one_arena()


def _check(devices: Sequence[Device]) -> None:
    if not devices:
        raise MeshError("A mesh needs one device at least, but `devices` is empty.")
    platforms = sorted({device.platform for device in devices})
    if len(platforms) > 1:
        raise MeshError(
            f"A mesh needs devices of one platform, but these are of {', '.join(platforms)}: "
            f"{[str(device) for device in devices]}. Name devices of one platform only."
        )


def _array(devices: Sequence[Device], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    array = np.empty(len(devices), object)
    array[:] = devices
    return array.reshape(shape)


def _prime_factors(number: int) -> list[int]:
    factors: list[int] = []
    divisor = 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return factors


# At the import, as well as before a mesh is made: the first array of a script starts the backend's threads, which get their arenas then.
share_one_arena()
