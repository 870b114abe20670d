"""`tf.config`: which devices there are, splitting the CPU into several, and how GPU memory grows.

*Physical devices* are the hardware; listing the CPU starts no backend, so that it can still be split.
*Logical devices* are what programs run on; listing them starts the backend.
"""

from frontends.tf._names import attributes
from frontends.tf.config import experimental
from frontends.tf.config.devices import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
)

__all__ = [
    "LogicalDevice",
    "LogicalDeviceConfiguration",
    "PhysicalDevice",
    "experimental",
    "list_logical_devices",
    "list_physical_devices",
    "set_logical_device_configuration",
]

__getattr__, __dir__ = attributes("tf.config", {}, present=__all__)
