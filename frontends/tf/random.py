"""`tf.random`: the global seed, and numbers drawn from it."""

from frontends.tf._names import attributes, defined_in
from frontends.tf._symbolic import recordable
from frontends.tf.ops import random as _random

__getattr__, __dir__ = attributes(
    "tf.random", recordable("tf.random", defined_in(_random.__name__))
)
