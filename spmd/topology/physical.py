"""The order of devices along a mesh: TPU chips that are linked stand next to each other."""

from collections.abc import Sequence
from typing import Any

from jax.experimental import mesh_utils

from spmd.topology.slices import physical_coordinates


def in_physical_order(devices: Sequence[Any]) -> list[Any]:
    """Puts TPU devices in an order that follows their links: around a slice, and slice after slice.

    The devices of a process stay together, since each process brings the rows of its own replicas. Links between slices are
    slow, so that collectives cross them as seldom as they can.

    Args:
        devices: of one or more slices and processes.

    Returns:
        The same devices; in the order given, if they do not say where they lie.

    Examples:
        >>> import jax
        >>> in_physical_order(jax.devices("cpu")) == jax.devices("cpu")
        True

    Source: `jax.experimental.mesh_utils.create_device_mesh` and `create_hybrid_device_mesh`.
    """
    if len(devices) < 2 or any(physical_coordinates(device) is None for device in devices):
        return list(devices)
    slices = sorted({_slice_of(device) for device in devices})
    per_slice = len(devices) // len(slices)
    counts = {sum(_slice_of(device) == one for device in devices) for one in slices}
    if counts != {per_slice}:
        return list(devices)  # a part of the slices, which someone chose
    try:
        if len(slices) == 1:
            grid = mesh_utils.create_device_mesh((per_slice,), devices)
        else:
            grid = mesh_utils.create_hybrid_device_mesh((per_slice,), (len(slices),), devices)
    except (ValueError, AssertionError, NotImplementedError):
        return list(devices)  # no whole block of chips
    return _processes_together(list(grid.flat))


def _processes_together(devices: Sequence[Any]) -> list[Any]:
    first: dict[int, int] = {}
    for position, device in enumerate(devices):
        first.setdefault(device.process_index, position)
    return sorted(devices, key=lambda device: first[device.process_index])


def _slice_of(device: Any) -> int:
    return int(getattr(device, "slice_index", 0) or 0)
