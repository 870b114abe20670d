"""`tf.compat`: the few names of TensorFlow 1 that scripts of TensorFlow 2 call."""

from frontends.tf.compat import v1
from frontends.tf.compat.dimensions import dimension_at_index, dimension_value
from frontends.tf.compat.texts import as_bytes, as_str, as_text

__all__ = ["as_bytes", "as_str", "as_text", "dimension_at_index", "dimension_value", "v1"]
