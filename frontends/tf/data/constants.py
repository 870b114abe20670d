"""The numbers with a meaning of `tf.data`."""

AUTOTUNE = -1
"""Let the library choose (``tf.data.AUTOTUNE``)."""

INFINITE_CARDINALITY = -1
"""The cardinality of a dataset that never ends (``tf.data.INFINITE_CARDINALITY``)."""

UNKNOWN_CARDINALITY = -2
"""The cardinality of a dataset that must be read to be counted (``tf.data.UNKNOWN_CARDINALITY``)."""
