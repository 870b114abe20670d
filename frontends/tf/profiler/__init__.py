"""`tf.profiler`: traces of what a program does, for TensorBoard."""

from frontends.tf._names import attributes
from frontends.tf.profiler import experimental

__getattr__, __dir__ = attributes("tf.profiler", {"experimental": experimental})
