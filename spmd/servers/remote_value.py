"""The result of a closure that a worker will have run."""

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

from spmd.errors import SpmdError


class CancelledClosureError(SpmdError, RuntimeError):
    """A closure was not run, because another one failed before it."""


@dataclasses.dataclass(frozen=True)
class Late:
    """A result that is made when it is first asked for.

    Attributes:
        make: makes it.
    """

    make: Callable[[], Any]


class RemoteValue:
    """What a scheduled function will return; safe to use from several threads.

    Source: `tf.distribute.experimental.coordinator.RemoteValue`.
    """

    def __init__(self) -> None:
        self._done = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Tells whether the result, or an error, is there."""
        return self._done.is_set()

    def has_failed(self) -> bool:
        """Tells whether there will be no result: an error is there in its place."""
        return self._error is not None

    def get(self, timeout: float | None = None) -> Any:
        """Returns the result; blocks until it is there.

        Args:
            timeout: how many seconds to wait at most; None for any time.

        Raises:
            TimeoutError: it did not come in time.
            CancelledClosureError: the function was not run, because another one failed.
            Exception: what the function raised.
        """
        if not self._done.wait(timeout):
            raise TimeoutError(f"The result of a closure did not come within {timeout} s.")
        if self._error is not None:
            raise self._error
        value = self._value
        if isinstance(value, Late):
            value = self._value = value.make()
        return value

    def set(self, value: Any) -> None:
        """Takes the result, or a `Late` one."""
        self._value = value
        self._done.set()

    def fail(self, error: BaseException) -> None:
        """Takes the error that stands for the result."""
        self._error = error
        self._done.set()
