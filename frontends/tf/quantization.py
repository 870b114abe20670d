"""`tf.quantization`: training with numbers that are rounded as quantized ones will be.

Types of quantized numbers do not exist here; what makes and takes them is an error that says what to write.
"""

from frontends.tf._names import attributes, defined_in
from frontends.tf._symbolic import recordable
from frontends.tf.ops import quantizing
from frontends.tf.ops.devices import across_devices

_FUNCTIONS = defined_in(quantizing.__name__)
__getattr__, __dir__ = attributes(
    "tf.quantization", recordable("tf.quantization", across_devices("tf.quantization", _FUNCTIONS))
)
