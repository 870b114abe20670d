"""`tf.errors`: the exceptions that scripts catch, each one that Python, JAX or this package raises.

`OpError`, in TensorFlow their base class, is a tuple of classes: `except` and `isinstance` take it, `raise` does not.
`ResourceExhaustedError`, `InternalError` and `UnknownError` are one class, JAX's, so that `except` of one of them catches the
others, too: its text begins with the kind.
"""

import jax

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
DeadlineExceededError = TimeoutError
FailedPreconditionError = RuntimeError
InternalError = jax.errors.JaxRuntimeError
InvalidArgumentError = ValueError
NotFoundError = FileNotFoundError
PermissionDeniedError = PermissionError
# What XLA raises when memory runs out, among others; its text begins with RESOURCE_EXHAUSTED then.
ResourceExhaustedError = jax.errors.JaxRuntimeError
UnauthenticatedError = PermissionError
UnimplementedError = NotImplementedError
UnknownError = jax.errors.JaxRuntimeError
OpError = (ValueError, IndexError, OSError, RuntimeError)

# Numbers of kinds of errors, those of gRPC.
OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]
