"""`tf.compat`: the few names of TensorFlow 1 that scripts of TensorFlow 2 call."""

from frontends.tf.compat import v1
from frontends.tf.compat.dimensions import dimension_at_index, dimension_value

__all__ = ["dimension_at_index", "dimension_value", "v1"]
