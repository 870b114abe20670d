"""`tf.types`: names for annotations."""

from frontends.tf import _names

__getattr__, __dir__ = _names.attributes(
    "tf.types", {}, {"experimental": "frontends.tf.types.experimental"}
)
