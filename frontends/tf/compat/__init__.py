"""`tf.compat`: the few names of TensorFlow 1 that scripts of TensorFlow 2 call."""

from frontends.tf.compat import v1

__all__ = ["v1"]
