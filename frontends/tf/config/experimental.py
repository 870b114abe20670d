"""`tf.config.experimental`: how GPU memory grows, settings of TensorFlow's eager runtime, and older names of `tf.config`."""

import os
from typing import Any

from frontends.tf import _names
from frontends.tf.config import devices
from frontends.tf.config.devices import get_visible_devices as get_visible_devices
from frontends.tf.config.devices import list_logical_devices as list_logical_devices
from frontends.tf.config.devices import list_physical_devices as list_physical_devices
from frontends.tf.config.devices import set_visible_devices as set_visible_devices
from frontends.tf.config.memory import get_device_details as get_device_details
from frontends.tf.config.memory import get_memory_info as get_memory_info
from frontends.tf.config.memory import get_memory_usage as get_memory_usage
from frontends.tf.config.memory import reset_memory_stats as reset_memory_stats
from frontends.tf.config.numerics import enable_op_determinism as enable_op_determinism
from frontends.tf.config.numerics import (
    enable_tensor_float_32_execution as enable_tensor_float_32_execution,
)
from frontends.tf.config.numerics import (
    tensor_float_32_execution_enabled as tensor_float_32_execution_enabled,
)
from spmd import _jax_internals

VirtualDeviceConfiguration = devices.LogicalDeviceConfiguration
set_virtual_device_configuration = devices.set_logical_device_configuration
get_virtual_device_configuration = devices.get_logical_device_configuration

_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")
_settings: dict[str, Any] = {"synchronous": True, "policy": "silent"}

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


def set_synchronous_execution(enable: bool) -> None:
    """Notes whether operations are to be over before the next one starts: JAX's are not, and reading a value waits.

    Source: `tf.config.experimental.set_synchronous_execution`.
    """
    _settings["synchronous"] = bool(enable)


def get_synchronous_execution() -> bool:
    """Returns what `set_synchronous_execution` noted; True by default.

    Source: `tf.config.experimental.get_synchronous_execution`.
    """
    return _settings["synchronous"]


def set_device_policy(device_policy: str | None) -> None:
    """Notes what happens to operands on other devices than the operation: here they are always copied.

    Args:
        device_policy: `"silent"` (or None), `"silent_for_int32"`, `"warn"` or `"explicit"`.

    Raises:
        ValueError: it is none of these.

    Source: `tf.config.experimental.set_device_policy`.
    """
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Expected one of {', '.join(map(repr, _POLICIES))}."
        )
    _settings["policy"] = policy


def get_device_policy() -> str:
    """Returns what `set_device_policy` noted; `"silent"` by default.

    Source: `tf.config.experimental.get_device_policy`.
    """
    return _settings["policy"]


def enable_mlir_bridge() -> None:
    """Does nothing: JAX hands its programs to XLA as MLIR always.

    Source: `tf.config.experimental.enable_mlir_bridge`.
    """


def disable_mlir_bridge() -> None:
    """Does nothing: JAX hands its programs to XLA as MLIR always.

    Source: `tf.config.experimental.disable_mlir_bridge`.
    """


def _require_gpu(device: devices.PhysicalDevice) -> None:
    if device.device_type != "GPU":
        raise ValueError(
            f"Memory growth is a choice for GPUs, but {device.name} is a {device.device_type}. "
            'Call it for each of tf.config.list_physical_devices("GPU").'
        )


__getattr__, __dir__ = _names.attributes("tf.config.experimental", _names.exported_by(__name__))
