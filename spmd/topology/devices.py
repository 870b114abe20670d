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
from spmd.topology.simulated import SIMULATE_VARIABLE, start_simulation

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
_PART = re.compile(
    r"job:(?P<job>.+)|replica:(?P<replica>[0-9]+)|task:(?P<task>[0-9]+)"
    r"|(?:device:)?(?P<platform>[a-z_]+)(?::(?P<index>[0-9]+)|:\*)?"
)


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
    parts = [_PART.fullmatch(part) for part in text.strip().strip("/").lower().split("/")]
    named = [pair for part in parts if part for pair in part.groupdict().items() if pair[1]]
    found = dict(named)
    if None in parts or len(found) < len(named) or found.get("platform") not in _PLATFORMS:
        raise MeshError(
            f"Cannot read the device string {text!r}. Expected 'cpu:0', '/gpu:1', 'tpu' or "
            "'/job:localhost/replica:0/task:0/device:GPU:0'."
        )
    index, task, replica = (
        int(found[key]) if key in found else None for key in ("index", "task", "replica")
    )
    return DeviceSpec(_PLATFORMS[found["platform"]], index, found.get("job"), task, replica)


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
    start_simulation()
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
    return f"{kind_of(device)}:{device.id}"


def kind_of(device: Device) -> str:
    """Tells what a device is, or what it stands for.

    Args:
        device: a device of this or another host.

    Returns:
        `"cpu"`, `"gpu"` or `"tpu"`; of a CPU device that is a simulated accelerator, the latter.

    Examples:
        >>> kind_of(jax.devices("cpu")[0])
        'cpu'
    """
    platform = _PLATFORMS.get(device.platform) or device.platform
    simulated = start_simulation() if platform == "cpu" else None
    if simulated is not None and _position(device) < simulated.count:
        return simulated.kind
    return platform


def local_devices(platform: str | None = None) -> list[Device]:
    """Lists devices of this process; starts the backend.

    Args:
        platform: `"cpu"`, `"gpu"` or `"tpu"`; None for those that steps run on unless told otherwise.

    Returns:
        The devices, simulated accelerators among them; none if there is no such platform.

    Examples:
        >>> local_devices("cpu") == jax.local_devices(backend="cpu")
        True
    """
    simulated = start_simulation()
    if simulated is not None and platform in (None, simulated.kind):
        return jax.local_devices(backend="cpu")[: simulated.count]
    try:
        return jax.local_devices(backend=platform)
    except RuntimeError:
        if platform is None:
            raise  # says what is wrong with the backend
        return []


def all_devices(platform: str | None = None) -> list[Device]:
    """Lists devices of all processes; starts the backend.

    Args:
        platform: as for `local_devices`.

    Returns:
        The devices, simulated accelerators among them.

    Raises:
        RuntimeError: there is no such platform.

    Examples:
        >>> all_devices() == jax.devices()
        True
    """
    simulated = start_simulation()
    if simulated is None or platform not in (None, simulated.kind):
        return jax.devices(platform)
    return [one for one in jax.devices("cpu") if _position(one) < simulated.count]


def _position(device: Device) -> int:
    """Returns the position of a CPU device among those of its process."""
    return jax.local_devices(process_index=device.process_index, backend="cpu").index(device)


def _find(text: str) -> list[Device]:
    spec = parse_device(text)
    _check_place(text, spec)
    devices = local_devices(spec.platform)
    chosen = devices if spec.index is None else devices[spec.index : spec.index + 1]
    if not chosen:
        count = max(2, (spec.index or 0) + 1)
        if spec.platform == "cpu":
            remedy = (
                f"Split the processor into {count} CPU devices, at the top of the script, before anything that makes an "
                f"array: {Remedy.SIMULATE_DEVICES.spelled(count=count)}."
            )
        else:
            kind = "tpu" if spec.platform == "tpu" else "gpu"
            remedy = (
                "Leave devices out to use all that there are. Without hardware, have the processor stand for it: "
                f"{SIMULATE_VARIABLE}={kind}:{count} python script.py"
            )
        raise MeshError(f"No device {text!r}. Devices here: {_existing()}. {remedy}")
    return chosen


def _check_place(text: str, spec: DeviceSpec) -> None:
    """Refuses devices of another process, which the long form can name."""
    if spec.job not in (None, *_TRAINING_JOBS):
        training = ", ".join(map(repr, _TRAINING_JOBS))
        wrong = f"job {spec.job!r}, which does not train (the jobs that do: {training})"
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
    return ", ".join(
        f"{platform}:{index}"
        for platform in ("cpu", "gpu", "tpu")
        for index in range(len(local_devices(platform)))
    )
