"""Memory of devices: CPU devices have no statistics, so those of a GPU are made up here."""

from types import SimpleNamespace

import pytest

from frontends import tf
from frontends.tf.config import memory

experimental = tf.config.experimental


def test_the_processor():
    for name in ("CPU:0", "/device:CPU:7", "cpu:1"):
        assert experimental.get_memory_info(name) == {"current": 0, "peak": 0}
    assert experimental.get_memory_usage("CPU:0") == 0
    experimental.reset_memory_stats("CPU:0")


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("GPU:0", "No matching devices found for 'GPU:0'"),
        ("CPU:8", "No matching devices"),
        ("GPU", "Failed parsing device name: 'GPU'"),
        ("foo", "Failed parsing"),
    ],
)
def test_no_such_device(name, match):
    for function in ("get_memory_info", "get_memory_usage", "reset_memory_stats"):
        with pytest.raises(ValueError, match=match):
            getattr(experimental, function)(name)


class Device:
    """A device that counts."""

    platform, device_kind, compute_capability = "gpu", "NVIDIA H200", "9.0"

    def __init__(self):
        self.stats = (10, 30)

    def memory_stats(self):
        return dict(zip(("bytes_in_use", "peak_bytes_in_use"), self.stats, strict=True))


def test_a_device_that_counts(monkeypatch):
    device = Device()
    monkeypatch.setattr(memory, "find_devices", lambda names: [device])

    def info():
        return tuple(experimental.get_memory_info("GPU:0").values())

    assert info() == (10, 30)
    experimental.reset_memory_stats("GPU:0")
    assert info() == (10, 10)
    device.stats = (25, 30)
    assert info() == (25, 25)
    device.stats = (5, 30)
    assert info() == (5, 25)
    device.stats = (5, 50)
    assert info() == (5, 50)
    assert experimental.get_memory_usage("GPU:0") == 5


def test_details(monkeypatch):
    (cpu,) = tf.config.list_physical_devices("CPU")
    gpu = tf.config.PhysicalDevice("/physical_device:GPU:1", "GPU")
    assert experimental.get_device_details(cpu) == {}
    with pytest.raises(ValueError, match="must be one obtained from"):
        experimental.get_device_details(gpu)
    with pytest.raises(ValueError, match=r"must be a tf\.config\.PhysicalDevice"):
        experimental.get_device_details(tf.config.list_logical_devices("CPU")[0])
    asked: list[list[str]] = []
    monkeypatch.setattr(memory, "list_physical_devices", lambda: [cpu, gpu])
    monkeypatch.setattr(memory, "find_devices", lambda names: asked.append(names) or [Device()])
    details = experimental.get_device_details(gpu)
    assert details == {"device_name": "NVIDIA H200", "compute_capability": (9, 0)}
    assert asked == [["GPU:1"]]
    tpu = SimpleNamespace(device_kind="TPU v5 lite")
    monkeypatch.setattr(memory, "find_devices", lambda names: [tpu])
    assert experimental.get_device_details(gpu) == {"device_name": "TPU v5 lite"}
