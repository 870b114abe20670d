"""TensorFlow's names over the engine: change the import, keep the training script.

    from frontends import tf            # was: import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()

Importing it imports no TensorFlow and starts no backend.
"""

from frontends.tf import config, data, distribute, nn, random
from frontends.tf.function import function

__all__ = ["config", "data", "distribute", "function", "nn", "random"]
