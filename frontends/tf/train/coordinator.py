"""`tf.train.Coordinator`: ends several threads together."""

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Generator, Iterable
from typing import Any

from frontends.tf.errors import OutOfRangeError

_LOGGER = logging.getLogger(__name__)
_ERRORS: Any = OutOfRangeError


class Coordinator:
    """Tells threads to stop, waits for them, and raises the error of the first that failed.

    Examples:
        >>> import threading
        >>> coordinator, steps = Coordinator(), []
        >>> def work():
        ...     while not coordinator.should_stop():
        ...         steps.append(1)
        ...         if len(steps) == 3:
        ...             coordinator.request_stop()
        >>> thread = threading.Thread(target=work)
        >>> thread.start()
        >>> coordinator.join([thread])
        >>> len(steps), coordinator.joined
        (3, True)

    Source: `tf.train.Coordinator`.
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None):
        """Makes a coordinator.

        Args:
            clean_stop_exception_types: errors that stop the threads, and are not raised; `tf.errors.OutOfRangeError` by default.
        """
        self._clean: Any = (
            (_ERRORS,) if clean_stop_exception_types is None else clean_stop_exception_types
        )
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop.

        Args:
            ex: why, if it is an error: it, or what `sys.exc_info()` gives. `join` raises the first one; after `join`, this does.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self._joined and error is not None:
                raise error
            if not self._stopped.is_set():
                if error is not None:
                    _LOGGER.info("A thread reported %s: %s", type(error).__name__, error)
                self._error = error
                self._stopped.set()

    def clear_stop(self) -> None:
        """Lets threads go on, and forgets the error."""
        with self._lock:
            self._joined, self._error = False, None
            self._stopped.clear()

    def should_stop(self) -> bool:
        """Tells whether a stop was asked for."""
        return self._stopped.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Generator[None]:
        """Asks the threads to stop for an error in the block, which ends there."""
        try:
            yield
        except BaseException:  # as TensorFlow
            self.request_stop(sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Blocks until a stop is asked for, or for so many seconds; tells whether it was."""
        return self._stopped.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Notes a thread that `join` is to wait for."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Blocks until threads have ended.

        Args:
            threads: beside those that were registered.
            stop_grace_period_secs: how long threads may take after a stop was asked for.
            ignore_live_threads: whether threads may live on.

        Raises:
            RuntimeError: threads live on.
            BaseException: a thread has reported it.
        """
        with self._lock:
            waited_for = self._threads.union(threads or ())
        while any(one.is_alive() for one in waited_for) and not self.wait_for_stop(0.05):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for one in waited_for:
            if one.is_alive():
                one.join(max(0.0, end - time.monotonic()))
        alive = sorted(one.name for one in waited_for if one.is_alive())
        with self._lock:
            self._joined, self._threads = True, set()
        self.raise_requested_exception()
        if alive and ignore_live_threads:
            _LOGGER.info("Threads live on: %s", " ".join(alive))
        elif alive:
            raise RuntimeError(
                f"Coordinator stopped with threads still running: {' '.join(alive)}. A thread has to ask should_stop() in its loop; "
                "or let it live on: join(threads, ignore_live_threads=True)."
            )

    @property
    def joined(self) -> bool:
        """Whether `join` has waited."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the error that a thread has reported, if one has."""
        if self._error is not None:
            raise self._error
