"""`tf.xla`: XLA compiles every program here."""

from frontends.tf._names import attributes
from frontends.tf.xla import experimental

__getattr__, __dir__ = attributes("tf.xla", {"experimental": experimental})
