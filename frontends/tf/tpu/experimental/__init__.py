"""`tf.tpu.experimental`: starting a TPU, and where its cores are."""

from frontends.tf import _names
from frontends.tf.tpu.device_assignment import DeviceAssignment as DeviceAssignment
from frontends.tf.tpu.device_assignment import DeviceOrderMode as DeviceOrderMode
from frontends.tf.tpu.hardware_feature import HardwareFeature as HardwareFeature
from frontends.tf.tpu.system import initialize_tpu_system as initialize_tpu_system
from frontends.tf.tpu.system import shutdown_tpu_system as shutdown_tpu_system
from frontends.tf.tpu.system_metadata import TPUSystemMetadata as TPUSystemMetadata
from frontends.tf.tpu.topology import Topology as Topology

__getattr__, __dir__ = _names.attributes(
    "tf.tpu.experimental",
    _names.exported_by(__name__),
    {"embedding": "frontends.tf.tpu.experimental.embedding"},
)
