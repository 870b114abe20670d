"""`tf.experimental.numpy`: NumPy's functions, over `jax.numpy`; floats have 32 bits, unless JAX's 64-bit types are on."""

from frontends.tf import _names
from frontends.tf._symbolic import recordable
from frontends.tf.experimental.numpy.functions import FUNCTIONS, TYPES
from frontends.tf.ops.devices import across_devices

__getattr__, __dir__ = _names.attributes(
    "tf.experimental.numpy",
    recordable("tf.experimental.numpy", across_devices("tf.experimental.numpy", FUNCTIONS)) | TYPES,
    {"random": "frontends.tf.experimental.numpy.random"},
)
