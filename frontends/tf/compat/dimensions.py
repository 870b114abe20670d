"""`tf.compat`'s functions for the sizes in shapes, which TensorFlow 1 wrapped in objects."""

from typing import Any

from frontends.tf.dimension import Dimension
from frontends.tf.tensor_shape import TensorShape


def dimension_value(dimension: Any) -> int | None:
    """Returns the size, of an object of TensorFlow 1 or of a number; None if it is not known.

    Examples:
        >>> from frontends import tf
        >>> tf.compat.dimension_value(tf.TensorShape([None, 3])[1])
        3

    Source: `tf.compat.dimension_value`.
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Returns a dimension of a shape as an object, whose `value` is the size.

    Source: `tf.compat.dimension_at_index`.
    """
    return Dimension(None if shape.rank is None else shape[index])
