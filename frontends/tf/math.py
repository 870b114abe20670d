"""`tf.math`: the functions of numbers that TensorFlow keeps there, over `jax.numpy`."""

from frontends.tf._names import attributes
from frontends.tf._symbolic import recordable
from frontends.tf.ops.devices import across_devices
from frontends.tf.ops.on_elements import on_elements
from frontends.tf.ops.tables import MATH

__getattr__, __dir__ = attributes(
    "tf.math",
    recordable("tf.math", on_elements(across_devices("tf.math", MATH))),
    {"special": "frontends.tf.math_special"},
)
