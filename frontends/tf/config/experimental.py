"""`tf.config.experimental`: how GPU memory grows, and older names of `tf.config`."""

import os

from frontends.tf import _names
from frontends.tf.config import devices
from frontends.tf.config.devices import list_logical_devices as list_logical_devices
from frontends.tf.config.devices import list_physical_devices as list_physical_devices
from spmd import _jax_internals

VirtualDeviceConfiguration = devices.LogicalDeviceConfiguration
set_virtual_device_configuration = devices.set_logical_device_configuration

# What JAX reads when it starts its backend. It holds for all GPUs.
_PREALLOCATE = "XLA_PYTHON_CLIENT_PREALLOCATE"


def set_memory_growth(device: devices.PhysicalDevice, enable: bool) -> None:
    """Says whether GPU memory is taken as it is needed, or most of it at the start, as JAX does.

    Args:
        device: a GPU; in JAX the choice holds for all of them.
        enable: take it as it is needed.

    Raises:
        ValueError: `device` is no GPU.
        RuntimeError: the backend runs already.

    Examples:
        >>> from frontends import tf
        >>> for gpu in tf.config.list_physical_devices("GPU"):
        ...     tf.config.experimental.set_memory_growth(gpu, True)

    Source: `tf.config.experimental.set_memory_growth`.
    """
    _require_gpu(device)
    if _jax_internals.backend_is_running():
        raise RuntimeError(
            "set_memory_growth was called after the devices were used. Call it before everything that "
            f"touches an array, or set the environment variable {_PREALLOCATE}=false."
        )
    os.environ[_PREALLOCATE] = "false" if enable else "true"


def get_memory_growth(device: devices.PhysicalDevice) -> bool:
    """Tells whether GPU memory is taken as it is needed.

    Args:
        device: a GPU.

    Returns:
        False if most of it is taken when the backend starts.

    Raises:
        ValueError: `device` is no GPU.

    Examples:
        >>> from frontends import tf
        >>> gpus = tf.config.list_physical_devices("GPU")
        >>> growing = [tf.config.experimental.get_memory_growth(gpu) for gpu in gpus]

    Source: `tf.config.experimental.get_memory_growth`.
    """
    _require_gpu(device)
    return os.environ.get(_PREALLOCATE, "true").lower() in ("0", "false")


def _require_gpu(device: devices.PhysicalDevice) -> None:
    if device.device_type != "GPU":
        raise ValueError(
            f"Memory growth is a choice for GPUs, but {device.name} is a {device.device_type}. "
            'Call it for each of tf.config.list_physical_devices("GPU").'
        )


__getattr__, __dir__ = _names.attributes("tf.config.experimental", _names.exported_by(__name__))
