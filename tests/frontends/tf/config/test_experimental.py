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
    with pytest.raises(AttributeError, match="is not part of jaxtribute"):
        _ = experimental.get_device_policy
    with pytest.raises(AttributeError, match="is not part of jaxtribute"):
        _ = tf.config.no_such_name
