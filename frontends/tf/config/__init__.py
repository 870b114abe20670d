"""`tf.config`: which devices there are and which are used, splitting the CPU into several, threads and memory.

*Physical devices* are the hardware; listing the CPU starts no backend, so that it can still be split.
*Logical devices* are what programs run on; listing them starts the backend.
"""

from frontends.tf import _names
from frontends.tf.config.clusters import (
    experimental_connect_to_cluster as experimental_connect_to_cluster,
)
from frontends.tf.config.clusters import (
    experimental_connect_to_host as experimental_connect_to_host,
)
from frontends.tf.config.devices import LogicalDevice as LogicalDevice
from frontends.tf.config.devices import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from frontends.tf.config.devices import PhysicalDevice as PhysicalDevice
from frontends.tf.config.devices import (
    get_logical_device_configuration as get_logical_device_configuration,
)
from frontends.tf.config.devices import get_visible_devices as get_visible_devices
from frontends.tf.config.devices import list_logical_devices as list_logical_devices
from frontends.tf.config.devices import list_physical_devices as list_physical_devices
from frontends.tf.config.devices import (
    set_logical_device_configuration as set_logical_device_configuration,
)
from frontends.tf.config.devices import set_visible_devices as set_visible_devices
from frontends.tf.config.execution import functions_run_eagerly as functions_run_eagerly
from frontends.tf.config.execution import get_soft_device_placement as get_soft_device_placement
from frontends.tf.config.execution import run_functions_eagerly as run_functions_eagerly
from frontends.tf.config.execution import set_soft_device_placement as set_soft_device_placement

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
__getattr__, __dir__ = _names.attributes(
    "tf.config",
    _names.exported_by(__name__),
    {
        name: f"frontends.tf.config.{name}"
        for name in ("device_lib", "experimental", "optimizer", "threading")
    },
)
