"""Physical and logical devices, and splitting the CPU into several."""

import dataclasses
import importlib.util
import os
import re

import spmd
from spmd import _jax_internals
from spmd.topology import (
    has_tpu,
    local_devices,
    use_gpus,
    use_platforms,
    use_simulated,
    wanted_simulation,
)

_CUDA = ("jax_cuda12_plugin", "jax_cuda13_plugin")
_ROCM = ("jax_rocm7_plugin", "jax_rocm60_plugin")
# Plug-ins for GPUs, and the files that their drivers make; /dev/dxg is that of the Windows Subsystem for Linux.
_DRIVERS = ((_CUDA, ("/dev/nvidiactl", "/dev/dxg")), (_ROCM, ("/dev/kfd",)))


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
        experimental_device_ordinal: accepted.

    Source: `tf.config.LogicalDeviceConfiguration`.
    """

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


@dataclasses.dataclass
class _State:
    """What scripts have chosen.

    Attributes:
        physical: all hardware, as it was before some was hidden; None if none is.
        visible: the hardware that programs may use; None if that is all.
        hidden: types of which none is visible.
        logical: how physical devices are split.
    """

    physical: list[PhysicalDevice] | None = None
    visible: list[PhysicalDevice] | None = None
    hidden: set[str] = dataclasses.field(default_factory=set[str])
    logical: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = dataclasses.field(
        default_factory=dict[PhysicalDevice, list[LogicalDeviceConfiguration]]
    )


_STATE = _State()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Lists the hardware of this machine, visible or not.

    NVIDIA's GPUs are counted by the files of their driver. Other accelerators are counted by their backend, which
    starts, where a plug-in for them is installed. Simulated TPUs and GPUs (JAXTRIBUTE_SIMULATE) are listed as if they
    were there, and are CPU devices as well.

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
        for index in range(_physical_count(kind))
    ]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Lists the devices that programs run on: all that are visible. Starts the backend.

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
        if kind not in _STATE.hidden
        for index in range(len(local_devices("cpu")) if kind == "CPU" else _accelerators(kind))
    ]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Lists the hardware that programs may use; all of it, unless `set_visible_devices` said otherwise.

    Args:
        device_type: `"CPU"`, `"GPU"`, `"TPU"`, or None for all.

    Returns:
        The devices.

    Examples:
        >>> get_visible_devices("CPU")
        [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]

    Source: `tf.config.get_visible_devices`.
    """
    visible = list_physical_devices() if _STATE.visible is None else _STATE.visible
    return [device for device in visible if device_type in (None, device.device_type)]


def set_visible_devices(
    devices: PhysicalDevice | list[PhysicalDevice], device_type: str | None = None
) -> None:
    """Says which hardware programs may use, and strategies take; call it before anything that makes an array.

    What differs here: of the TPUs of a machine, all are visible or none; and the CPU serves JAX even if hidden.

    Args:
        devices: of `tf.config.list_physical_devices`.
        device_type: `"CPU"`, `"GPU"` or `"TPU"` leaves devices of other types as they are.

    Raises:
        ValueError: a device does not exist, or is not of the type; or it is one of several TPUs.
        RuntimeError: the backend runs already.

    Examples:
        >>> set_visible_devices([], "GPU")
        >>> get_visible_devices("GPU")
        []

    Source: `tf.config.set_visible_devices`.
    """
    physical = list_physical_devices()
    named = devices if isinstance(devices, list) else [devices]
    for device in named:
        if device not in physical or device_type not in (None, device.device_type):
            of_type = "" if device_type is None else f" {device_type}"
            raise ValueError(
                f"Unrecognized device: {device!r}. Expected{of_type} devices of this list: {physical}."
            )
    before = get_visible_devices()
    kept = [one for one in before if device_type is not None and one.device_type != device_type]
    visible = sorted([*kept, *named], key=physical.index)
    if visible == sorted(before, key=physical.index):
        return
    if _jax_internals.backend_is_running():
        raise RuntimeError(
            "Visible devices cannot be modified after being initialized: the backend runs already. Call "
            "tf.config.set_visible_devices at the top of the script, before anything that makes an array or lists "
            "logical devices, or set CUDA_VISIBLE_DEVICES."
        )
    _limit_backend(physical, visible)
    _STATE.physical, _STATE.visible = physical, visible
    _STATE.hidden = {one.device_type for one in physical} - {one.device_type for one in visible}


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """Returns what `set_logical_device_configuration` was given for a device; None if it was not called.

    Raises:
        ValueError: the device does not exist.

    Source: `tf.config.get_logical_device_configuration`.
    """
    require_physical(device)
    return _STATE.logical.get(device)


def require_physical(device: object) -> None:
    """Checks that a device is one of those that there are.

    Raises:
        ValueError: it is not.
    """
    physical = list_physical_devices()
    if device not in physical:
        raise ValueError(
            f"Unrecognized device: {device!r}. Expected one of tf.config.list_physical_devices(): {physical}."
        )


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
    _STATE.logical[device] = list(logical_devices)


def _limit_backend(physical: list[PhysicalDevice], visible: list[PhysicalDevice]) -> None:
    """Has the backend, when it starts, take the visible accelerators only."""
    of = {
        kind: (
            [one for one in physical if one.device_type == kind],
            [one for one in visible if one.device_type == kind],
        )
        for kind in ("GPU", "TPU")
    }
    if (simulated := wanted_simulation()) is not None:
        use_simulated(len(of[simulated.kind.upper()][1]))
        return
    for kind, (there, seen) in of.items():
        if seen and len(seen) < len(there):
            if kind == "TPU":
                raise ValueError(
                    f"{len(seen)} of {len(there)} TPUs cannot be made visible: all are, or none. Name those that a "
                    "strategy shall take: tf.distribute.MirroredStrategy(['tpu:0'])."
                )
            use_gpus(list(map(there.index, seen)))
    names = {"GPU": "cuda", "TPU": "tpu"}
    if any(there and not seen for there, seen in of.values()):
        use_platforms([*(names[kind] for kind, (_, seen) in of.items() if seen), "cpu"])


def _physical_count(kind: str) -> int:
    if _STATE.physical is not None:
        return sum(device.device_type == kind for device in _STATE.physical)
    if kind == "CPU":
        return 1
    if (simulated := wanted_simulation()) is not None:
        return simulated.count if simulated.kind == kind.lower() else 0
    count = None
    if kind == "GPU" and not _jax_internals.backend_is_running() and _may_have(kind):
        count = _nvidia_gpus()
    return _accelerators(kind) if count is None else count


def _nvidia_gpus() -> int | None:
    """Counts NVIDIA's GPUs without starting anything; None if that cannot be told."""
    count = len([one for one in os.listdir("/dev") if re.fullmatch(r"nvidia\d+", one)])
    if not count or not any(map(_installed, _CUDA)):
        return None
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return count
    # CUDA stops at the first name that is no GPU's; -1 is the usual one for none.
    names = [name.strip() for name in allowed.split(",") if name.strip()]
    return min(count, names.index("-1") if "-1" in names else len(names))


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _kinds(device_type: str | None) -> list[str]:
    return [kind for kind in ("CPU", "GPU", "TPU") if device_type in (None, kind)]


def _may_have(kind: str) -> bool:
    """Tells whether there may be devices that only the backend can count, without starting it.

    That a plug-in is installed does not say so: `jaxtribute plan` compiles with those of machines that are elsewhere.
    """
    if kind == "TPU":
        return has_tpu()
    platforms = os.environ.get("JAX_PLATFORMS", "").split(",")
    if platforms != [""] and not {"gpu", "cuda", "rocm"} & set(platforms):
        return False
    return any(
        any(map(_installed, plugins)) and any(map(os.path.exists, files))
        for plugins, files in _DRIVERS
    )


def _accelerators(kind: str) -> int:
    if wanted_simulation() or _jax_internals.backend_is_running() or _may_have(kind):
        return len(local_devices(kind.lower()))
    return 0
