"""`tf.linalg`: products and norms, over `jax.numpy`."""

from frontends.tf._names import attributes
from frontends.tf.ops.tables import LINALG

__getattr__, __dir__ = attributes("tf.linalg", LINALG)
