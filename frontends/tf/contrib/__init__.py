"""`tf.contrib`: what TensorFlow 1 kept there, of distribution strategies."""

from frontends.tf._names import attributes
from frontends.tf.contrib import distribute

__getattr__, __dir__ = attributes("tf.contrib", {"distribute": distribute})
