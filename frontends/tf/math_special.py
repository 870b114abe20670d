"""`tf.math.special`: special functions, over `jax.scipy.special`."""

from frontends.tf._names import attributes
from frontends.tf._symbolic import recordable
from frontends.tf.ops.bessel import SPECIAL
from frontends.tf.ops.devices import across_devices

__getattr__, __dir__ = attributes(
    "tf.math.special", recordable("tf.math.special", across_devices("tf.math.special", SPECIAL))
)
