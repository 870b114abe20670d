"""`tf.contrib`: what TensorFlow 1 kept there, of distribution strategies and for weights of layers."""

from frontends.tf._names import attributes
from frontends.tf.contrib import distribute, layers

__getattr__, __dir__ = attributes("tf.contrib", {"distribute": distribute, "layers": layers})
