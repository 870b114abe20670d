"""Device strings as people write them: `"gpu:0"`, `"/cpu:1"`, `"/job:worker/task:0/device:GPU:2"`.

A *device string* names a platform and, optionally, the index of one device of this platform on this
host. The long form carries a job, replica and task as well; they are read and must name this process.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax

from spmd.errors import MeshError, Remedy

# JAX's stubs show `jax.Device` as a variable, which cannot stand in a type.
Device: TypeAlias = Any

_PLATFORMS = {
    "cpu": "cpu",
    "xla_cpu": "cpu",
    "gpu": "gpu",
    "xla_gpu": "gpu",
    "cuda": "gpu",
    "rocm": "gpu",
    "tpu": "tpu",
}
# Jobs whose processes train; "localhost" is TensorFlow's name for a process without a cluster.
_TRAINING_JOBS = ("localhost", "worker", "chief", "master")
_PART = re.compile(r"^(job|replica|task|device|[a-z_]+)(?::(.+))?$")


@dataclasses.dataclass(frozen=True)
class DeviceSpec:
    """A parsed device string.

    Attributes:
        platform: `"cpu"`, `"gpu"` or `"tpu"`.
        index: position among this host's devices of the platform, or None for all of them.
        job: the job of the long form, or None.
        task: the task index of the long form, or None.
        replica: the replica index of the long form, or None; a job has one replica of each task.
    """

    platform: str
    index: int | None
    job: str | None = None
    task: int | None = None
    replica: int | None = None


def parse_device(text: str) -> DeviceSpec:
    """Parses a device string.

    Args:
        text: for example `"gpu:0"`, `"/GPU:1"`, `"CPU"` or
            `"/job:localhost/replica:0/task:0/device:GPU:0"`; case is ignored.

    Returns:
        The platform, index, job and task that the string names.

    Raises:
        MeshError: the string is no device string.

    Examples:
        >>> parse_device("/job:localhost/replica:0/task:0/device:GPU:1")
        DeviceSpec(platform='gpu', index=1, job='localhost', task=0, replica=0)
        >>> parse_device("/cpu:0").index
        0

    Source: `tf.DeviceSpec.from_string`.
    """
    job: str | None = None
    task: int | None = None
    replica: int | None = None
    device: tuple[str, str | None] | None = None
    for part in text.strip().strip("/").lower().split("/"):
        match = _PART.match(part)
        if match is None:
            raise _unreadable(text)
        key, value = match.group(1), match.group(2)
        if key == "job":
            job = value
        elif key == "task":
            task = _index(value, text)
        elif key == "device":
            platform, _, index = (value or "").partition(":")
            device = (platform, index or None)
        elif key == "replica":
            replica = _index(value, text)
        else:
            device = (key, value)
    if device is None or device[0] not in _PLATFORMS:
        raise _unreadable(text)
    index = None if device[1] in (None, "*") else _index(device[1], text)
    return DeviceSpec(_PLATFORMS[device[0]], index, job, task, replica)


def find_devices(texts: Sequence[str | Device]) -> list[Device]:
    """Finds the devices that device strings name; starts the backend.

    Args:
        texts: device strings, or devices, which are passed through. A string without an index stands
            for every device of its platform.

    Returns:
        The devices, in the order in which they were named.

    Raises:
        MeshError: a string is malformed, names a device that does not exist, or names one twice.

    Examples:
        >>> find_devices(["/cpu:0"])[0].platform
        'cpu'
    """
    found: list[Device] = []
    for text in texts:
        if not isinstance(text, str) and not hasattr(text, "platform"):
            raise MeshError(
                f"Expected a device string such as 'cpu:0', or a device of jax.devices(), but got "
                f"{text!r} of type {type(text).__name__}. Devices here: {_existing()}."
            )
        found.extend(_find(text) if isinstance(text, str) else [text])
    for device in found:
        if found.count(device) > 1:
            raise MeshError(
                f"Device {device_name(device)} is named more than once in {list(map(str, texts))}; "
                "a replica needs a device of its own."
            )
    return found


def device_name(device: Device) -> str:
    """Names a device the short way.

    Args:
        device: a device of this or another host.

    Returns:
        The platform and the index, as in `"cpu:0"`.

    Examples:
        >>> device_name(jax.devices("cpu")[0])
        'cpu:0'
    """
    platform = _PLATFORMS.get(device.platform, device.platform)
    return f"{platform}:{device.id}"


def _find(text: str) -> list[Device]:
    spec = parse_device(text)
    _check_place(text, spec)
    try:
        devices = jax.local_devices(backend=spec.platform)
    except RuntimeError:
        devices = []
    if spec.index is None and devices:
        return devices
    if spec.index is None or spec.index >= len(devices):
        count = max(2, (spec.index or 0) + 1)
        hint = (
            ("" if spec.platform == "cpu" else "Leave devices out to use all that there are. ")
            + f"Without hardware, split the processor into {count} CPU devices, at the top of the script, "
            "before anything that makes an array: "
            f"{Remedy.SIMULATE_DEVICES.spelled(count=count)}."
        )
        raise MeshError(f"No device {text!r}. Devices here: {_existing()}. {hint}")
    return [devices[spec.index]]


def _check_place(text: str, spec: DeviceSpec) -> None:
    """Refuses devices of another process, which the long form can name."""
    if spec.job not in (None, *_TRAINING_JOBS):
        wrong = (
            f"job {spec.job!r}, which does not train (the jobs that do: {_names(_TRAINING_JOBS)})"
        )
    elif spec.replica not in (None, 0):
        wrong = f"replica {spec.replica}, but a task has only replica 0"
    elif spec.task not in (None, jax.process_index()):
        wrong = f"task {spec.task}, but this process is task {jax.process_index()}"
    else:
        return
    raise MeshError(
        f"The device string {text!r} names {wrong}. A process uses its own devices only. Devices here: "
        f"{_existing()}. Leave job, replica and task out."
    )


def _existing() -> str:
    existing: list[str] = []
    for platform in ("cpu", "gpu", "tpu"):
        try:
            count = len(jax.local_devices(backend=platform))
        except RuntimeError:
            continue
        existing.extend(f"{platform}:{i}" for i in range(count))
    return ", ".join(existing)


def _names(jobs: Sequence[str]) -> str:
    return ", ".join(map(repr, jobs))


def _index(value: str | None, text: str) -> int:
    if value is None or not (value.isascii() and value.isdigit()):
        raise _unreadable(text)
    return int(value)


def _unreadable(text: str) -> MeshError:
    return MeshError(
        f"Cannot read the device string {text!r}. Expected 'cpu:0', '/gpu:1', 'tpu' or "
        "'/job:localhost/replica:0/task:0/device:GPU:0'."
    )
