"""`tf.config`: which devices there are, splitting the CPU into several, and how GPU memory grows.

*Physical devices* are the hardware; listing the CPU starts no backend, so that it can still be split.
*Logical devices* are what programs run on; listing them starts the backend.
"""

from frontends.tf import _names
from frontends.tf.config.devices import LogicalDevice as LogicalDevice
from frontends.tf.config.devices import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from frontends.tf.config.devices import PhysicalDevice as PhysicalDevice
from frontends.tf.config.devices import list_logical_devices as list_logical_devices
from frontends.tf.config.devices import list_physical_devices as list_physical_devices
from frontends.tf.config.devices import (
    set_logical_device_configuration as set_logical_device_configuration,
)

__getattr__, __dir__ = _names.attributes(
    "tf.config", _names.exported_by(__name__), {"experimental": "frontends.tf.config.experimental"}
)
