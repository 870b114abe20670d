"""`tf.io`: files by path, local or in a bucket."""

from frontends.tf._names import attributes
from frontends.tf.io import gfile

__getattr__, __dir__ = attributes("tf.io", {"gfile": gfile})
