"""`tf.compat`: TensorFlow 1, TensorFlow 2, and what serves both."""

from frontends.tf._names import attributes
from frontends.tf.compat import v1
from frontends.tf.compat.dimensions import dimension_at_index, dimension_value
from frontends.tf.compat.texts import as_bytes, as_str, as_text

__all__ = ["as_bytes", "as_str", "as_text", "dimension_at_index", "dimension_value", "v1"]

__getattr__, __dir__ = attributes("tf.compat", {}, {"v2": "frontends.tf"}, present=__all__)
