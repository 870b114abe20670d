"""How GPU memory grows: JAX reads an environment variable when it starts."""

import pytest

from frontends import tf
from frontends.tf.config.devices import PhysicalDevice

GPU = PhysicalDevice("/physical_device:GPU:0", "GPU")
PREALLOCATE = "XLA_PYTHON_CLIENT_PREALLOCATE"


@pytest.mark.slow
@pytest.mark.parametrize("enable", [True, False])
def test_memory_growth_before_the_backend_runs(run_python, enable):
    script = (
        "import os\n"
        "from frontends import tf\n"
        "from frontends.tf.config.devices import PhysicalDevice\n"
        "gpu = PhysicalDevice('/physical_device:GPU:0', 'GPU')\n"
        f"tf.config.experimental.set_memory_growth(gpu, {enable})\n"
        f"print(tf.config.experimental.get_memory_growth(gpu), os.environ['{PREALLOCATE}'])\n"
    )
    assert run_python("-c", script).stdout.split() == [str(enable), str(not enable).lower()]


def test_memory_growth_is_refused_while_the_backend_runs():
    assert tf.config.list_logical_devices("CPU")
    with pytest.raises(RuntimeError, match=PREALLOCATE):
        tf.config.experimental.set_memory_growth(GPU, True)


def test_memory_growth_is_for_gpus():
    (cpu, *_) = tf.config.list_physical_devices("CPU")
    with pytest.raises(ValueError, match="GPU"):
        tf.config.experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="GPU"):
        tf.config.experimental.get_memory_growth(cpu)


def test_older_names():
    experimental = tf.config.experimental
    assert experimental.list_physical_devices("GPU") == tf.config.list_physical_devices("GPU")
    assert experimental.VirtualDeviceConfiguration is tf.config.LogicalDeviceConfiguration
    assert experimental.set_visible_devices is tf.config.set_visible_devices
    assert experimental.get_visible_devices is tf.config.get_visible_devices
    with pytest.raises(AttributeError, match="is not part of jaxtribute"):
        _ = experimental.no_such_name


def test_execution_is_noted():
    experimental = tf.config.experimental
    assert experimental.get_synchronous_execution()
    experimental.set_synchronous_execution(False)
    assert not experimental.get_synchronous_execution()
    experimental.set_synchronous_execution(True)
    experimental.enable_mlir_bridge()
    experimental.disable_mlir_bridge()


def test_policies():
    experimental = tf.config.experimental
    assert experimental.get_device_policy() == "silent"
    for policy in ("warn", "explicit", "silent_for_int32", "silent"):
        experimental.set_device_policy(policy)
        assert experimental.get_device_policy() == policy
    experimental.set_device_policy("warn")
    experimental.set_device_policy(None)
    assert experimental.get_device_policy() == "silent"
    with pytest.raises(ValueError, match="Invalid argument `device_policy`: 'foo'"):
        experimental.set_device_policy("foo")
