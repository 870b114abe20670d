"""`tf.linalg`: products and norms, over `jax.numpy`."""

from frontends.tf._names import attributes
from frontends.tf.ops.array import eye
from frontends.tf.ops.math import LINALG

__getattr__, __dir__ = attributes("tf.linalg", {"eye": eye, **LINALG})
