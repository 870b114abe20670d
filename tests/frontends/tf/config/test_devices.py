"""Devices are listed and split in fresh processes: a backend starts once, and never stops."""

import pytest

from frontends import tf

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
