"""`tf.math`: the functions of numbers that TensorFlow keeps there, over `jax.numpy`."""

from frontends.tf._names import attributes
from frontends.tf.ops.tables import MATH

__getattr__, __dir__ = attributes("tf.math", MATH)
