"""`tf.math`: the functions of numbers that TensorFlow keeps there, over `jax.numpy`."""

from frontends.tf._math_ops import MATH
from frontends.tf._names import attributes

__getattr__, __dir__ = attributes("tf.math", MATH)
