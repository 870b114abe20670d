"""`tf.errors`: the exceptions that scripts catch, each one that Python or this package raises."""

from frontends.tf.data.iterator import OutOfRangeError

InvalidArgumentError = ValueError
NotFoundError = FileNotFoundError

__all__ = ["InvalidArgumentError", "NotFoundError", "OutOfRangeError"]
