"""Physical and logical devices, and splitting the CPU into several."""

import dataclasses
import importlib.util
import os

import spmd
from spmd import _jax_internals
from spmd.topology import local_devices, wanted_simulation

# Packages that bring a backend other than the CPU's.
_ACCELERATORS = (
    "jax_cuda12_plugin",
    "jax_cuda13_plugin",
    "jax_rocm7_plugin",
    "jax_rocm60_plugin",
    "libtpu",
)


@dataclasses.dataclass(frozen=True)
class _Device:
    name: str
    device_type: str


class PhysicalDevice(_Device):
    """A piece of hardware.

    Attributes:
        name: such as `"/physical_device:GPU:0"`.
        device_type: `"CPU"`, `"GPU"` or `"TPU"`.

    Source: `tf.config.PhysicalDevice`.
    """


class LogicalDevice(_Device):
    """A device that programs run on.

    Attributes:
        name: such as `"/device:CPU:1"`.
        device_type: `"CPU"`, `"GPU"` or `"TPU"`.

    Source: `tf.config.LogicalDevice`.
    """


@dataclasses.dataclass(frozen=True)
class LogicalDeviceConfiguration:
    """How one logical device is made.

    Attributes:
        memory_limit: MiB of the device's memory; JAX does not split GPUs, so it must be None.
        experimental_priority: accepted.

    Source: `tf.config.LogicalDeviceConfiguration`.
    """

    memory_limit: int | None = None
    experimental_priority: int | None = None


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Lists the hardware of this machine.

    Starts the backend only where an accelerator's plug-in is installed and asked for. Simulated TPUs and GPUs
    (JAXTRIBUTE_SIMULATE) are listed as if they were there, and are CPU devices as well.

    Args:
        device_type: `"CPU"`, `"GPU"`, `"TPU"`, or None for all.

    Returns:
        The devices. All CPU cores together are one.

    Examples:
        >>> list_physical_devices("CPU")
        [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]

    Source: `tf.config.list_physical_devices`.
    """
    return [
        PhysicalDevice(f"/physical_device:{kind}:{index}", kind)
        for kind in _kinds(device_type)
        for index in (range(1) if kind == "CPU" else _accelerators(kind, starts_backend=False))
    ]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Lists the devices that programs run on; starts the backend.

    Args:
        device_type: `"CPU"`, `"GPU"`, `"TPU"`, or None for all.

    Returns:
        The devices.

    Examples:
        >>> list_logical_devices("CPU")[0]
        LogicalDevice(name='/device:CPU:0', device_type='CPU')

    Source: `tf.config.list_logical_devices`.
    """
    return [
        LogicalDevice(f"/device:{kind}:{index}", kind)
        for kind in _kinds(device_type)
        for index in (range(len(local_devices("cpu"))) if kind == "CPU" else _accelerators(kind))
    ]


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: list[LogicalDeviceConfiguration]
) -> None:
    """Splits the CPU into several devices, to try a strategy without hardware.

    Args:
        device: the physical CPU.
        logical_devices: one configuration for each device to make.

    Raises:
        RuntimeError: the backend runs already, or JAXTRIBUTE_SIMULATE asks for another number of devices.
        ValueError: the device is not a CPU, or a memory limit is set, which JAX cannot do.

    Examples:
        >>> cpus = list_physical_devices("CPU")
        >>> count = len(list_logical_devices("CPU"))
        >>> set_logical_device_configuration(cpus[0], [LogicalDeviceConfiguration()] * count)

    Source: `tf.config.set_logical_device_configuration`.
    """
    if not isinstance(device, PhysicalDevice):
        raise ValueError(
            f"Expected a physical device, but got {device!r}. Take one from "
            'tf.config.list_physical_devices("CPU").'
        )
    if device.device_type != "CPU":
        raise ValueError(
            f"Only the CPU can be split into logical devices here, but got {device.name}: XLA programs "
            "take a whole GPU or TPU. To limit its memory set XLA_PYTHON_CLIENT_MEM_FRACTION."
        )
    if any(logical.memory_limit is not None for logical in logical_devices):
        raise ValueError(
            "memory_limit of a logical CPU device is not supported: simulated devices share the "
            "machine's memory. Leave it out: LogicalDeviceConfiguration()."
        )
    count = len(logical_devices)
    if count < 1:
        raise ValueError(f"{device.name} needs one logical device at least, but none was given.")
    simulated = wanted_simulation()
    if simulated is not None and count != simulated.count:
        raise RuntimeError(
            f"tf.config.set_logical_device_configuration asks for {count} logical CPU device(s), but the processor is split "
            f"into {simulated.count} already: JAXTRIBUTE_SIMULATE={simulated.text}, which stand for "
            f"{simulated.kind.upper()}s. Start the script without JAXTRIBUTE_SIMULATE, or with {simulated.kind}:{count}."
        )
    try:
        spmd.simulate_devices(count)
    except spmd.errors.MeshError:
        running = len(list_logical_devices("CPU"))
        raise RuntimeError(
            f"tf.config.set_logical_device_configuration came too late to make {count} logical device(s): "
            f"the backend already runs with {running} CPU device(s). Call it at the top of the script, "
            "before anything that makes an array or lists logical devices."
        ) from None


def _kinds(device_type: str | None) -> list[str]:
    return [kind for kind in ("CPU", "GPU", "TPU") if device_type in (None, kind)]


def _accelerators(kind: str, *, starts_backend: bool = True) -> range:
    simulated = wanted_simulation()
    if simulated is not None and not starts_backend:
        return range(simulated.count if simulated.kind == kind.lower() else 0)
    platforms = os.environ.get("JAX_PLATFORMS", "")
    wanted = not platforms or kind.lower() in platforms or (kind == "GPU" and "cuda" in platforms)
    installed = any(importlib.util.find_spec(name) for name in _ACCELERATORS)
    if simulated or _jax_internals.backend_is_running() or (wanted and installed):
        return range(len(local_devices(kind.lower())))
    return range(0)
