"""Devices to a mesh: which devices take part in a step, and along which axis they are laid out.

A *mesh* is an array of devices with named axes (`jax.sharding.Mesh`). `spmd.topology.layout` says what the
axes mean.
"""

from collections.abc import Sequence

from jax.sharding import Mesh

from spmd.errors import MeshError
from spmd.lowering import keep_compiled_programs, share_one_arena
from spmd.topology.devices import Device, all_devices, find_devices, local_devices
from spmd.topology.layout import replica_mesh
from spmd.topology.physical import in_physical_order


def make_mesh(devices: Sequence[str | Device] | None = None, *, local: bool = False) -> Mesh:
    """Makes a one-dimensional mesh whose only axis is `"replica"`.

    Starts the backend, and keeps compiled programs on disk from then on (`enable_compilation_cache`). Across
    hosts every process must call it with the same devices; one of local devices is each process's own.

    Args:
        devices: devices or device strings, one per replica; None takes every device of the default
            platform, those of other processes included, and puts TPUs in the order of their links.
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
        found: Sequence[Device] = in_physical_order(local_devices() if local else all_devices())
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
    return replica_mesh(found)
