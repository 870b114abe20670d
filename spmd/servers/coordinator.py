"""Hands closures out to workers, and sees that each of them runs, whatever happens to a worker."""

import atexit
import collections
import dataclasses
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from spmd.errors import SpmdError
from spmd.servers.remote_value import CancelledClosureError, RemoteValue

# How often a worker that was lost is asked whether it is back, in seconds.
_RETRY_SECONDS = 1.0


_COORDINATORS: "weakref.WeakSet[Coordinator]" = weakref.WeakSet()


class WorkerLostError(SpmdError, ConnectionError):
    """A worker died, or cannot be reached: what it was running runs elsewhere."""


class Worker(Protocol):
    """Runs closures, one at a time."""

    def run(self, closure: Callable[..., Any]) -> Any:
        """Runs a closure; blocks until it has ended.

        Raises:
            WorkerLostError: the worker is gone, and the closure may have run or not.
            Exception: what the closure raised.
        """
        ...

    def restore(self) -> bool:
        """Tells whether a worker that was lost is back, and prepares it."""
        ...


@dataclasses.dataclass
class _Closure:
    function: Callable[..., Any]
    result: RemoteValue


class Coordinator:
    """A queue of closures, and a thread for each worker that takes them from it.

    A closure runs at least once: if its worker is lost, another one runs it. After the first error the closures that
    wait are cancelled, and the error is raised by the next `schedule` or `join`; then all may go on.

    Examples:
        >>> class Here:
        ...     def run(self, closure):
        ...         return closure()
        ...
        ...     def restore(self):
        ...         return True
        >>> coordinator = Coordinator([Here(), Here()])
        >>> results = [coordinator.schedule(lambda n=n: n * n) for n in range(3)]
        >>> coordinator.join()
        >>> [result.get() for result in results], coordinator.done()
        ([0, 1, 4], True)
        >>> coordinator.stop()

    Source: `tf.distribute.coordinator.ClusterCoordinator`.
    """

    def __init__(self, workers: Sequence[Worker]) -> None:
        """Starts a thread for each worker."""
        self._workers = workers
        self._queue: collections.deque[_Closure] = collections.deque()
        self._running = 0
        self._error: BaseException | None = None
        self._stopped = False
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(
                target=self._serve, args=(worker,), name=f"closures of worker {index}", daemon=True
            )
            for index, worker in enumerate(workers)
        ]
        for thread in self._threads:
            thread.start()
        _COORDINATORS.add(self)

    def schedule(self, function: Callable[..., Any]) -> RemoteValue:
        """Has a worker run a function; does not wait for it.

        Args:
            function: called by the worker, with what the worker passes.

        Returns:
            What the function will return.

        Raises:
            Exception: what an earlier function raised, once.
        """
        with self._changed:
            self._raise_error()
            closure = _Closure(function, RemoteValue())
            self._queue.append(closure)
            self._changed.notify()
        return closure.result

    def join(self) -> None:
        """Blocks until all functions have run.

        Raises:
            Exception: the first error of one of them, once.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._queue and not self._running)
            self._raise_error()

    def done(self) -> bool:
        """Tells whether all functions have run.

        Raises:
            Exception: the first error of one of them, once.
        """
        with self._changed:
            self._raise_error()
            return not self._queue and not self._running

    def stop(self, wait_seconds: float = 0.0) -> None:
        """Ends the threads, once they have run what they are running; what waits is cancelled.

        Args:
            wait_seconds: how long to wait for each of them.
        """
        with self._changed:
            self._stopped = True
            self._cancel()
            self._changed.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(wait_seconds)

    def _raise_error(self) -> None:
        if self._error is not None:
            # In-flight closures may still use what the caller is about to change.
            self._changed.wait_for(lambda: not self._running)
            error, self._error = self._error, None
            raise error

    def _cancel(self) -> None:
        while self._queue:
            reason = CancelledClosureError(
                "The closure was not run, because an earlier one failed, or the coordinator was stopped. Schedule it "
                "again after join() has raised the error."
            )
            self._queue.popleft().result.fail(reason)

    def _serve(self, worker: Worker) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._stopped)
                if self._stopped:
                    return
                self._running += 1
                closure = self._queue.popleft()
            is_lost = self._run(worker, closure)
            del closure  # its arguments may hold resources, such as iterators
            with self._changed:
                self._running -= 1
                self._changed.notify_all()
            if is_lost and not self._wait_for(worker):
                return

    def _run(self, worker: Worker, closure: _Closure) -> bool:
        """Has a worker run a closure; returns whether the worker was lost."""
        try:
            closure.result.set(worker.run(closure.function))
        except WorkerLostError:
            with self._changed:
                if self._error is None and not self._stopped:
                    self._queue.appendleft(closure)
                else:
                    closure.result.fail(CancelledClosureError("Its worker was lost."))
            return True
        except BaseException as error:
            closure.result.fail(error)
            with self._changed:
                if self._error is None:
                    self._error = error
                self._cancel()
        return False

    def _wait_for(self, worker: Worker) -> bool:
        """Waits until a lost worker is back; returns False if the coordinator was stopped before."""
        while not worker.restore():
            with self._changed:
                if self._changed.wait_for(lambda: self._stopped, _RETRY_SECONDS):
                    return False
        return True


@atexit.register
def _stop_all() -> None:
    """Ends threads before Python does, which would do so in the middle of XLA's code."""
    for coordinator in list(_COORDINATORS):
        coordinator.stop(wait_seconds=5.0)
