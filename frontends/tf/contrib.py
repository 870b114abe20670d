"""`tf.contrib.distribute`: strategies under the names that they first had, in TensorFlow 1.

A batch is the global batch, as in TensorFlow 2, where TensorFlow 1 gave one to each replica.
"""

from frontends.tf import distribute
from frontends.tf._names import attributes

__getattr__, __dir__ = attributes("tf.contrib", {"distribute": distribute})
