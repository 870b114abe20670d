"""`tf.linalg`: products and norms, over `jax.numpy`."""

from frontends.tf._names import attributes
from frontends.tf._symbolic import recordable
from frontends.tf.ops.devices import across_devices
from frontends.tf.ops.tables import LINALG

__getattr__, __dir__ = attributes(
    "tf.linalg", recordable("tf.linalg", across_devices("tf.linalg", LINALG))
)
