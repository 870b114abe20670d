"""`tf.errors`: the exceptions that scripts catch, each one that Python or this package raises."""

from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.traced_values import OperatorNotAllowedInGraphError
from spmd.errors import DamagedFileError, UnavailableError
from spmd.servers import CancelledClosureError


class AlreadyExistsError(RuntimeError):
    """What is to be started runs already.

    Source: `tf.errors.AlreadyExistsError`.
    """


class AbortedError(RuntimeError):
    """What was begun cannot go on. Nothing here raises it; scripts catch it along with `UnavailableError`.

    Source: `tf.errors.AbortedError`.
    """


CancelledError = CancelledClosureError
DataLossError = DamagedFileError
InvalidArgumentError = ValueError
NotFoundError = FileNotFoundError

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "InvalidArgumentError",
    "NotFoundError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "UnavailableError",
]
