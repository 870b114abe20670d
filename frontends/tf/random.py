"""`tf.random`: the global seed, and numbers drawn from it."""

from frontends.tf._names import attributes
from frontends.tf.ops.random import RANDOM

__getattr__, __dir__ = attributes("tf.random", RANDOM)
