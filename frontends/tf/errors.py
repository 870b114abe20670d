"""`tf.errors`: the exceptions that scripts catch, each one that Python or this package raises."""

from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.traced_values import OperatorNotAllowedInGraphError


class AlreadyExistsError(RuntimeError):
    """What is to be started runs already.

    Source: `tf.errors.AlreadyExistsError`.
    """


class UnavailableError(RuntimeError):
    """What is asked for does not run.

    Source: `tf.errors.UnavailableError`.
    """


InvalidArgumentError = ValueError
NotFoundError = FileNotFoundError

__all__ = [
    "AlreadyExistsError",
    "InvalidArgumentError",
    "NotFoundError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "UnavailableError",
]
