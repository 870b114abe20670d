"""`tf.linalg`: products and norms, over `jax.numpy`."""

from frontends.tf._array_ops import eye
from frontends.tf._math_ops import LINALG
from frontends.tf._names import attributes

__getattr__, __dir__ = attributes("tf.linalg", {"eye": eye, **LINALG})
