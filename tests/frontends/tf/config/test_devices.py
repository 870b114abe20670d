"""Devices are listed and split in fresh processes: a backend starts once, and never stops."""

import pytest

from frontends import tf
from frontends.tf.config import devices

QUIET = "from spmd._jax_internals import backend_is_running\n"


@pytest.fixture
def python(run_python):
    """Runs code as a script of its own; gives the lines that it prints."""

    def run(code):
        strict = "import warnings; warnings.simplefilter('error')\n"
        return run_python("-c", strict + code).stdout.split("\n")[:-1]

    return run


def test_split_the_cpu_after_listing_it(python):
    assert python(
        QUIET
        + """
from frontends import tf
cpus = tf.config.list_physical_devices("CPU")
print(cpus)
print(tf.config.list_physical_devices("GPU"), tf.config.list_physical_devices("TPU"))
print(tf.config.list_physical_devices() == cpus, backend_is_running())
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 3)
print(backend_is_running())
print([device.name for device in tf.config.list_logical_devices("CPU")])
print(tf.config.list_logical_devices("GPU"), backend_is_running())
print(tf.config.list_physical_devices("CPU") == cpus)
strategy = tf.distribute.MirroredStrategy()
result = strategy.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group + 1)
print(strategy.num_replicas_in_sync, int(strategy.reduce("SUM", result, axis=None)))
"""
    ) == [
        "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]",
        "[] []",
        "True False",
        "False",
        "['/device:CPU:0', '/device:CPU:1', '/device:CPU:2']",
        "[] True",
        "True",
        "3 6",
    ]


def test_too_late(python):
    lines = python(
        """
from frontends import tf
cpu = tf.config.list_physical_devices("CPU")[0]
assert len(tf.config.list_logical_devices("CPU")) == 1
try:
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
except RuntimeError as error:
    print(error)
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()])
print("the same again is no change")
"""
    )
    assert len(lines) == 2
    assert "too late" in lines[0]
    assert "top of the script" in lines[0]


def test_the_last_configuration_counts(python):
    assert python(
        """
from frontends import tf
cpu = tf.config.list_physical_devices("CPU")[0]
for count in (4, 2):
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * count
    )
print(tf.distribute.MirroredStrategy().num_replicas_in_sync)
"""
    ) == ["2"]


def test_too_late_here():
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert len(tf.config.list_logical_devices("CPU")) == 8
    with pytest.raises(RuntimeError, match="8 CPU device"):
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 3
        )


def test_memory_limits_are_refused():
    (cpu,) = tf.config.list_physical_devices("CPU")
    limited = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    with pytest.raises(ValueError, match="memory_limit"):
        tf.config.set_logical_device_configuration(cpu, [limited] * 8)


def test_only_the_cpu_is_split():
    gpu = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    with pytest.raises(ValueError, match="GPU:0"):
        tf.config.set_logical_device_configuration(
            gpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )


def test_logical_names_are_device_strings():
    names = [device.name for device in tf.config.list_logical_devices("CPU")]
    assert tf.distribute.MirroredStrategy(names).num_replicas_in_sync == len(names) == 8


# Three GPUs, made up: what would be done with them shows in the environment.
GPUS = """
import os, jax
from frontends import tf
from frontends.tf.config import devices
devices._nvidia_gpus, devices._may_have = lambda: 3, lambda kind: kind == "GPU"
"""


def test_gpus_are_chosen_before_the_backend_starts(python):
    assert python(
        QUIET
        + GPUS
        + """
gpus = tf.config.list_physical_devices("GPU")
print(len(gpus), backend_is_running())
tf.config.set_visible_devices(gpus[1:], "GPU")
print(os.environ["CUDA_VISIBLE_DEVICES"])
print([one.name for one in tf.config.get_visible_devices()])
print(tf.config.list_physical_devices("GPU") == gpus, backend_is_running())
tf.config.set_visible_devices(gpus[2:], "GPU")
print(os.environ["CUDA_VISIBLE_DEVICES"])
tf.config.set_visible_devices(gpus[:1], "GPU")
print(os.environ["CUDA_VISIBLE_DEVICES"])
"""
    ) == [
        "3 False",
        "1,2",
        "['/physical_device:CPU:0', '/physical_device:GPU:1', '/physical_device:GPU:2']",
        "True False",
        "2",
        "0",
    ]


def test_without_gpus_strategies_take_the_processor(python):
    assert python(
        GPUS
        + """
tf.config.set_visible_devices([], "GPU")
print(jax.config.jax_platforms)
print(tf.config.get_visible_devices())
print(tf.config.list_logical_devices("GPU"), tf.config.list_logical_devices())
print(tf.distribute.MirroredStrategy().extended.worker_devices)
print(len(tf.config.list_physical_devices("GPU")))
tf.config.set_visible_devices([], "GPU")  # as it is
try:
    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU"), "GPU")
except RuntimeError as error:
    print(str(error)[:60])
"""
    ) == [
        "cpu",
        "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]",
        "[] [LogicalDevice(name='/device:CPU:0', device_type='CPU')]",
        "('/job:localhost/replica:0/task:0/device:CPU:0',)",
        "3",
        "Visible devices cannot be modified after being initialized: ",
    ]


def test_some_tpus_of_several_are_refused(python):
    assert python(
        GPUS.replace('kind == "GPU"', 'kind == "TPU"')
        + """
devices._accelerators = lambda kind: 4 * (kind == "TPU")
tpus = tf.config.list_physical_devices("TPU")
try:
    tf.config.set_visible_devices(tpus[:1], "TPU")
except ValueError as error:
    print(str(error)[:23])
print(len(tf.config.get_visible_devices("TPU")))
tf.config.set_visible_devices([], "TPU")
print(jax.config.jax_platforms)
"""
    ) == ["1 of 4 TPUs cannot be m", "4", "cpu"]


@pytest.mark.parametrize(
    ("files", "visible", "count"),
    [
        (["nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"], None, 2),
        (["nvidia0", "nvidia1"], "1", 1),
        (["nvidia0", "nvidia1"], "", 0),
        (["nvidia0", "nvidia1"], "0,-1,1", 1),
        (["null"], None, None),
    ],
)
def test_gpus_are_counted_by_the_files_of_the_driver(monkeypatch, files, visible, count):
    monkeypatch.setattr(devices.os, "listdir", lambda folder: files)
    monkeypatch.setattr(devices.importlib.util, "find_spec", lambda name: True)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices._nvidia_gpus() == count


# Errors and values are those of TensorFlow 2.21.
@pytest.mark.parametrize(
    "call",
    [
        lambda cpu, gpu: tf.config.set_visible_devices(gpu),
        lambda cpu, gpu: tf.config.set_visible_devices(cpu, "GPU"),
        lambda cpu, gpu: tf.config.set_visible_devices("CPU:0"),
        lambda cpu, gpu: tf.config.set_visible_devices((cpu,)),
        lambda cpu, gpu: tf.config.get_logical_device_configuration(gpu),
    ],
)
def test_unknown_devices(call):
    (cpu,) = tf.config.list_physical_devices("CPU")
    gpu = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    with pytest.raises(ValueError, match="Unrecognized device"):
        call(cpu, gpu)


def test_visible_devices_once_the_backend_runs():
    assert tf.config.list_logical_devices("CPU")
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert tf.config.get_visible_devices() == [cpu]
    assert tf.config.get_visible_devices("GPU") == []
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(cpu)
    tf.config.set_visible_devices([cpu], "CPU")
    with pytest.raises(RuntimeError, match="cannot be modified after being initialized"):
        tf.config.set_visible_devices([], "CPU")
    assert tf.config.get_visible_devices() == [cpu]


def test_configurations_are_remembered():
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert tf.config.get_logical_device_configuration(cpu) is None
    chosen = [tf.config.LogicalDeviceConfiguration()] * 8
    tf.config.set_logical_device_configuration(cpu, chosen)
    try:
        assert tf.config.get_logical_device_configuration(cpu) == chosen
        assert tf.config.experimental.get_virtual_device_configuration(cpu) == chosen
    finally:
        devices._STATE.logical.clear()


@pytest.mark.parametrize(
    ("plugins", "files", "platforms", "found"),
    [
        (["jax_cuda12_plugin"], ["/dev/nvidiactl"], "", True),
        (["jax_cuda13_plugin"], ["/dev/dxg"], "cuda,cpu", True),
        (["jax_rocm7_plugin"], ["/dev/kfd"], "rocm", True),
        (["jax_cuda12_plugin"], ["/dev/nvidiactl"], "cpu", False),
        (["jax_cuda12_plugin"], ["/dev/nvidiactl"], "tpu,cpu", False),
        (["jax_cuda12_plugin"], [], "", False),  # as a compiler, for `jaxtribute plan`
        (["jax_cuda12_plugin"], ["/dev/kfd"], "", False),
        ([], ["/dev/nvidiactl"], "", False),
        (["libtpu"], [], "", False),
    ],
)
def test_the_backend_is_asked_where_there_is_a_driver(
    monkeypatch, plugins, files, platforms, found
):
    monkeypatch.setenv("JAX_PLATFORMS", platforms)
    monkeypatch.setattr(devices, "_installed", lambda name: name in plugins)
    monkeypatch.setattr(devices.os.path, "exists", lambda path: path in files)
    assert devices._may_have("GPU") is found
    assert not devices._may_have("TPU")


def test_compilers_of_other_machines_start_no_backend(python):
    """Both compilers of `jaxtribute plan` are installed, as empty packages, and this machine has neither chip."""
    assert python(
        QUIET
        + """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: (
    object() if name in ("libtpu", "jax_cuda12_plugin") else found(name, *more)
)
from frontends import tf
print(len(tf.config.list_physical_devices()), backend_is_running())
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
print(len(tf.config.list_logical_devices()))
"""
    ) == ["1 False", "2"]
