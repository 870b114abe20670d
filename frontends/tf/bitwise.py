"""`tf.bitwise`: the bits of integers."""

from frontends.tf._names import attributes
from frontends.tf._symbolic import recordable
from frontends.tf.ops import bits
from frontends.tf.ops.convert import picked
from frontends.tf.ops.devices import across_devices

_FUNCTIONS = picked(
    bits, "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"
)
__getattr__, __dir__ = attributes(
    "tf.bitwise", recordable("tf.bitwise", across_devices("tf.bitwise", _FUNCTIONS))
)
