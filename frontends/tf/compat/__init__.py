"""`tf.compat`: TensorFlow 1, TensorFlow 2, and what serves both."""

from frontends.tf._names import attributes
from frontends.tf.compat import v1
from frontends.tf.compat.dimensions import dimension_at_index, dimension_value
from frontends.tf.compat.texts import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    forward_compatible,
    integral_types,
    path_to_str,
    real_types,
)

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
]

__getattr__, __dir__ = attributes("tf.compat", {}, {"v2": "frontends.tf"}, present=__all__)
