"""Exceptions of the engine: each one is also a built-in, so `except ValueError` keeps working.

Every message says what was expected, what was found, where the found value came from, and the line
that fixes it.
"""

from collections.abc import Sequence


class SpmdError(Exception):
    """Base class of all errors that jaxtribute raises on purpose."""


class MeshError(SpmdError, ValueError):
    """Devices that do not exist, cannot be combined, or were asked for too late."""


class StateError(SpmdError, RuntimeError):
    """State that a step uses in a way that would be lost or go stale."""


class ReplicaDivergenceError(SpmdError, RuntimeError):
    """A mirrored variable would leave the step with different values on different replicas."""


class ReplicaContextError(SpmdError, RuntimeError):
    """A call that belongs inside a step made outside of one, or the other way round."""


class PaddedBatchError(SpmdError, ValueError):
    """A padded batch reached a step whose result would count the padding rows."""


class StepOutputError(SpmdError, TypeError):
    """A step returned something that is not an array."""


class BatchError(SpmdError, ValueError):
    """A batch whose structure or shape cannot be split over replicas."""


class ProcessMismatchError(SpmdError, RuntimeError):
    """Processes that are to run one program run different ones, or hold different values."""


class ClusterConfigError(SpmdError, ValueError):
    """A description of a cluster, such as TF_CONFIG, that cannot be right.

    Attributes:
        key: the offending key, such as `"cluster.worker[1]"`; empty where it is the whole.
    """

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


class ClusterStartError(SpmdError, RuntimeError):
    """Processes of a cluster did not find each other, or do not agree about the cluster.

    Attributes:
        missing: the tasks that are not there, such as `("worker 1",)`.
        retryable: whether starting this process again may help; a wrong list of addresses stays wrong.
    """

    def __init__(
        self, message: str, *, missing: Sequence[str] = (), retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.retryable = retryable


class ClusterWaitError(SpmdError, TimeoutError):
    """A task did not give in time what the others wait for.

    Attributes:
        missing: the tasks that are waited for, such as `("worker 1",)`.
    """

    def __init__(self, message: str, *, missing: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.missing = tuple(missing)


class StoreKeyError(SpmdError, ValueError):
    """A key of the cluster's store that has a text already."""


class ExportError(SpmdError, ValueError):
    """A program that cannot be written to disk, or a directory that holds no readable one."""


class LaunchError(SpmdError, ValueError):
    """What `jaxtribute launch` is asked for cannot be started or written."""


class RecompilationWarning(UserWarning):
    """A step keeps being compiled again because its inputs keep changing."""
