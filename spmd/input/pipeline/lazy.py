"""A value that is computed on first use."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls `compute` once, on the first call, and returns the same value from then on.

    Pipelines are defined before a mesh exists, and `jax.distributed.initialize` must come before
    anything that starts a JAX backend: so a pipeline traces nothing before it is read.

    A second thread that asks while the first one computes waits. An exception is not kept: the next
    call computes again.
    """

    def __init__(self, compute: Callable[[], T]) -> None:
        self._lock = threading.RLock()
        self._compute: Callable[[], T] | None = compute

    def __call__(self) -> T:
        """Returns the value."""
        with self._lock:
            if self._compute is not None:
                self._value = self._compute()
                self._compute = None  # lets go of what it closes over
            return self._value
