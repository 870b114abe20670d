"""`tf.errors`: the exceptions that scripts catch, each one that Python or this package raises."""

from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.traced_values import OperatorNotAllowedInGraphError

InvalidArgumentError = ValueError
NotFoundError = FileNotFoundError

__all__ = [
    "InvalidArgumentError",
    "NotFoundError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
]
