"""`tf.DeviceSpec`: a device string, in its parts."""

import dataclasses
import re
from typing import Any

_PARTS = ("job", "replica", "task", "device_type", "device_index")
_TYPES = re.compile(r"(cpu|gpu|tpu|tpu_system|xla_cpu|xla_gpu|custom)", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, repr=False)
class DeviceSpec:
    """The parts of a device string, each of which may be open.

    Attributes:
        job: such as `"worker"`.
        replica: an index.
        task: an index.
        device_type: such as `"GPU"`.
        device_index: an index; None stands for any device of the type.

    Raises:
        ValueError: an index is no number.

    Examples:
        >>> spec = DeviceSpec.from_string("/job:worker/task:1/gpu:0")
        >>> spec.device_type, spec.task, spec.to_string()
        ('GPU', 1, '/job:worker/task:1/device:GPU:0')

    Source: `tf.DeviceSpec`.
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    def __post_init__(self) -> None:
        kind = self.device_type
        normal: dict[str, Any] = {
            "job": None if self.job is None else str(self.job),
            # As TensorFlow does it, types that it does not know keep their case.
            "device_type": kind.upper() if kind is not None and _TYPES.fullmatch(kind) else kind,
        }
        for name in ("replica", "task", "device_index"):
            value = getattr(self, name)
            normal[name] = None if value is None else int(value)
        for name, value in normal.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_string(cls, spec: str) -> "DeviceSpec":
        """Parses a device string.

        Args:
            spec: such as `"/job:worker/replica:0/task:1/device:CPU:0"`, `"gpu:0"`, or `""`.

        Raises:
            ValueError: it is none.

        Source: `tf.DeviceSpec.from_string`.
        """
        parts: dict[str, Any] = {}
        for text in filter(None, spec.split("/")):
            name, *values = text.split(":")
            if name in ("job", "replica", "task") and len(values) == 1:
                parts[name] = values[0]
                continue
            kind, *index = values if name == "device" else [name, *values]
            if name != "device" and not _TYPES.fullmatch(kind):
                raise ValueError(
                    f"Unknown attribute {name!r} is encountered while parsing the device spec: {spec!r}. Expected "
                    "'/job:worker/replica:0/task:1/device:GPU:0', or parts of it."
                )
            if "device_type" in parts:
                raise ValueError(
                    f"Multiple device types are not allowed while parsing the device spec: {spec}."
                )
            parts["device_type"] = kind.upper()
            if index and index[0] != "*":
                parts["device_index"] = index[0]
        return cls(**parts)

    def parse_from_string(self, spec: str) -> "DeviceSpec":
        """Parses a device string; now `from_string`.

        Source: `tf.DeviceSpec.parse_from_string`.
        """
        return self.from_string(spec)

    def to_string(self) -> str:
        """Writes the device string, without the parts that are open.

        Source: `tf.DeviceSpec.to_string`.
        """
        named = [(name, getattr(self, name)) for name in ("job", "replica", "task")]
        text = "".join(f"/{name}:{value}" for name, value in named if value is not None)
        if self.device_type is None:
            return text
        index = "*" if self.device_index is None else self.device_index
        return f"{text}/device:{self.device_type}:{index}"

    def make_merged_spec(self, dev: "DeviceSpec") -> "DeviceSpec":
        """Makes one with the parts of another, and its own where these are open.

        Source: `tf.DeviceSpec.make_merged_spec`.
        """
        given = {name: getattr(dev, name) for name in _PARTS}
        return self.replace(**{name: one for name, one in given.items() if one is not None})

    def replace(self, **kwargs: Any) -> "DeviceSpec":
        """Makes one with other parts.

        Args:
            **kwargs: the parts that change.

        Source: `tf.DeviceSpec.replace`.
        """
        return type(self)(**{name: getattr(self, name) for name in _PARTS} | kwargs)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)}" for name in _PARTS)
        return f"<DeviceSpec({parts})>"
