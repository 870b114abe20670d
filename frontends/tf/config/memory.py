"""Memory of devices, and what they are."""

from collections.abc import Mapping
from typing import Any

from frontends.tf._typing import Device
from frontends.tf.config.devices import PhysicalDevice, list_physical_devices
from spmd.errors import MeshError
from spmd.topology import find_devices

# Of devices whose statistics were reset: the highest peak before, and the largest use that was seen since.
_RESET: dict[Any, tuple[int, int]] = {}


def get_memory_info(device: str) -> dict[str, int]:
    """Returns how much memory of a device is in use.

    What differs here: zeros where JAX does not count, as on processors.

    Args:
        device: a device string with an index, such as `"GPU:0"`.

    Returns:
        `current` and `peak`, in bytes. After `reset_memory_stats`, JAX still counts the peak from the start of the
        process: until that is passed, `peak` is the largest use that calls of this function have seen.

    Raises:
        ValueError: there is no such device.

    Examples:
        >>> get_memory_info("CPU:0")
        {'current': 0, 'peak': 0}

    Source: `tf.config.experimental.get_memory_info`.
    """
    found = _find(device)
    current, peak = _stats(found)
    if found in _RESET:
        before, seen = _RESET[found]
        seen = max(seen, current)
        _RESET[found] = before, seen
        peak = peak if peak > before else seen
    return {"current": current, "peak": peak}


def get_memory_usage(device: str) -> int:
    """Returns how many bytes of a device's memory are in use; see `get_memory_info`.

    Source: `tf.config.experimental.get_memory_usage`.
    """
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Lets the peak of `get_memory_info` begin with what is in use now.

    Raises:
        ValueError: there is no such device.

    Source: `tf.config.experimental.reset_memory_stats`.
    """
    found = _find(device)
    current, peak = _stats(found)
    _RESET[found] = peak, current


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """Describes an accelerator; starts its backend.

    Args:
        device: of `tf.config.list_physical_devices`.

    Returns:
        `device_name`, and for NVIDIA's GPUs `compute_capability` as two numbers; nothing for the processor.

    Raises:
        ValueError: it is no physical device, or none of this machine.

    Examples:
        >>> get_device_details(list_physical_devices("CPU")[0])
        {}

    Source: `tf.config.experimental.get_device_details`.
    """
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device!r}.")
    if device not in list_physical_devices():
        raise ValueError(
            "The PhysicalDevice must be one obtained from calling `tf.config.list_physical_devices`, but got: "
            f"{device!r}."
        )
    if device.device_type == "CPU":
        return {}
    kind, index = device.name.rsplit(":", 2)[1:]
    (found,) = find_devices([f"{kind}:{index}"])
    details: dict[str, Any] = {"device_name": found.device_kind}
    capability = getattr(found, "compute_capability", None)
    if capability:
        details["compute_capability"] = tuple(map(int, str(capability).split(".")))
    return details


def _find(device: str) -> Device:
    try:
        if device.rsplit(":", 1)[-1].isdigit():
            return find_devices([device])[0]
    except MeshError as error:
        raise ValueError(f"No matching devices found for {device!r}. {error}") from None
    raise ValueError(
        f"Failed parsing device name: {device!r}. Note a valid device string should at least contain a device "
        'type and a device index, like "GPU:0".'
    )


def _stats(device: Device) -> tuple[int, int]:
    stats: Mapping[str, int] = device.memory_stats() or {}
    return stats.get("bytes_in_use", 0), stats.get("peak_bytes_in_use", 0)
