"""`tf.metrics`: Keras's metrics, and those of TensorFlow 1."""

from frontends.tf._either import either

__getattr__, __dir__ = either("metrics")
