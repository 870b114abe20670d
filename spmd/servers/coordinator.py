"""Hands closures out to workers, and sees that each of them runs, whatever happens to a worker."""

import atexit
import collections
import contextlib
import dataclasses
import functools
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import jax

from spmd.errors import SpmdError
from spmd.servers.remote_value import CancelledClosureError, RemoteValue
from spmd.typing import PyTree

# How often a worker that was lost is asked whether it is back, in seconds.
_RETRY_SECONDS = 1.0
# How long a worker is busy with what it is handed at once, if one closure does not take longer.
_SECONDS_AT_ONCE = 0.2
# How many workers may be lost over one closure: it may be what ends them, by taking all memory for instance.
_LOST_AT_MOST = 10


_COORDINATORS: "weakref.WeakSet[Coordinator]" = weakref.WeakSet()


class WorkerLostError(SpmdError, ConnectionError):
    """A worker died, or cannot be reached: what it was running runs elsewhere."""


class Worker(Protocol):
    """Runs closures, one after the other.

    Attributes:
        at_once: how many closures it takes at once, at most.
    """

    at_once: int

    def run(self, closures: Sequence[Callable[..., Any]], finish: Callable[[Any], None]) -> None:
        """Runs closures.

        Args:
            closures: what to run, in this order.
            finish: to be called with what each of them returns.

        Raises:
            WorkerLostError: the worker is gone, and the remaining closures may have run or not.
            Exception: what a closure raised; those after it do not run.
        """
        ...

    def restore(self) -> bool:
        """Tells whether a worker that was lost is back, and prepares it.

        Raises:
            Exception: what makes it useless to wait for the worker.
        """
        ...


@dataclasses.dataclass(eq=False)
class _Closure:
    function: Callable[..., Any]
    arguments: PyTree
    result: RemoteValue
    # How many workers were lost while they had it.
    lost: int = 0
    # How many others have run at the same time, or still do.
    overlap: int = 0

    def is_ready(self) -> bool:
        """Tells whether the results of others that it needs are there."""
        leaves = jax.tree.leaves(self.arguments, is_leaf=_is_remote)
        return all(leaf.done() for leaf in leaves if _is_remote(leaf))

    def resolved(self) -> Callable[..., Any]:
        """Returns the function, with the results of others in place of `RemoteValue`s."""
        arguments = jax.tree.map(
            lambda leaf: leaf.get() if _is_remote(leaf) else leaf,
            self.arguments,
            is_leaf=_is_remote,
        )
        return functools.partial(self.function, *arguments)


class Coordinator:
    """A queue of closures, and a thread for each worker that takes them from it.

    A closure runs at least once: if its worker is lost, another one runs it, up to ten times. After the first error the
    closures that wait are cancelled, and the error is raised by the next `schedule` or `join`; then all may go on.
    What ends a thread, such as SystemExit, does not leave a closure: it is raised as a RuntimeError.

    Attributes:
        lost: how often a worker was lost while it had a closure, which may have changed variables, and runs again.

    Examples:
        >>> class Here:
        ...     at_once = 1
        ...
        ...     def run(self, closures, finish):
        ...         for closure in closures:
        ...             finish(closure())
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

    def __init__(self, workers: Sequence[Worker], max_staleness: int | None = None) -> None:
        """Starts a thread for each worker.

        Args:
            workers: what runs closures.
            max_staleness: how many other closures may run, and update variables, between the start and the end of a
                closure; with 0 they run one after the other. None for any number.
        """
        self._workers = workers
        self._max_staleness = max_staleness
        # Those that run, if their overlap is bounded.
        self._in_flight: list[_Closure] = []
        self._queue: collections.deque[_Closure] = collections.deque()
        self._running = self.lost = 0
        self._error: BaseException | None = None
        self._stopped = False
        self._changed = threading.Condition(threading.RLock())
        self._threads = [
            threading.Thread(
                target=self._serve, args=(worker,), name=f"closures of worker {index}", daemon=True
            )
            for index, worker in enumerate(workers)
        ]
        for thread in self._threads:
            thread.start()
        _COORDINATORS.add(self)

    def schedule(
        self, function: Callable[..., Any], arguments: Sequence[PyTree] = ()
    ) -> RemoteValue:
        """Has a worker run a function; does not wait for it.

        Args:
            function: called by the worker, with what the worker passes after the arguments.
            arguments: of the function; of a `RemoteValue` in them, the result is passed.

        Returns:
            What the function will return.

        Raises:
            Exception: what an earlier function raised, once.
        """
        with self._changed:
            self._raise_error()
            closure = _Closure(function, arguments, RemoteValue())
            self._queue.append(closure)
            # One that is notified alone may be a thread that waits for something else.
            self._changed.notify_all()
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

    def wait(self, results: Sequence[RemoteValue]) -> None:
        """Blocks until one of some results is there, or an error in place of it."""
        with self._changed:
            self._changed.wait_for(lambda: any(result.done() for result in results))

    def stop(self, wait_seconds: float | None = 0.0) -> None:
        """Ends the threads, once they have run what they are running; what waits is cancelled.

        Args:
            wait_seconds: how long to wait for each of them; None for any time.
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
        reason = CancelledClosureError(
            "The closure was not run, because an earlier one failed, or the coordinator was stopped. Schedule it "
            "again after join() has raised the error."
        )
        _fail(self._queue, reason)
        self._queue.clear()

    def _serve(self, worker: Worker) -> None:
        seconds = 0.0  # that a closure takes
        while True:
            with self._changed:
                self._changed.wait_for(self._may_start)
                if self._stopped:
                    return
                # All workers get some of what waits, and none of them more than it soon has done.
                count = min(worker.at_once, -(-len(self._queue) // (2 * len(self._workers))))
                if seconds:
                    count = min(count, int(_SECONDS_AT_ONCE / seconds) + 1)
                if self._max_staleness is not None:
                    count = 1
                    self._start(self._queue[0])
                closures = [self._queue.popleft()]
                # Together with a closure none can go that needs its result.
                while len(closures) < count and self._queue and self._queue[0].is_ready():
                    closures.append(self._queue.popleft())
                self._running += len(closures)
            started = time.monotonic()
            is_lost = self._run(worker, closures)
            if self._max_staleness is not None:
                with self._changed:
                    self._in_flight.remove(closures[0])
                    self._changed.notify_all()
            seconds = (time.monotonic() - started) / len(closures)
            del closures  # their arguments may hold resources, such as iterators
            if is_lost and not self._restore(worker):
                return

    def _may_start(self) -> bool:
        """Tells whether a thread has something to do."""
        if self._stopped or not self._queue:
            return self._stopped
        # A worker that waited for another one's result would not be there to run it, if that one was lost. If none
        # runs, the result is another coordinator's.
        if self._running and not self._queue[0].is_ready():
            return False
        return self._max_staleness is None or (
            len(self._in_flight) <= self._max_staleness
            and all(closure.overlap < self._max_staleness for closure in self._in_flight)
        )

    def _start(self, closure: _Closure) -> None:
        for other in self._in_flight:
            other.overlap += 1
        closure.overlap = len(self._in_flight)
        self._in_flight.append(closure)

    def _run(self, worker: Worker, closures: Sequence[_Closure]) -> bool:
        """Has a worker run closures; returns whether the worker was lost."""
        waiting = collections.deque(closures)

        def finish(value: Any) -> None:
            waiting.popleft().result.set(value)
            self._end(1)

        functions, failed = _resolved(closures)
        try:
            if functions:
                worker.run(functions, finish)
        except WorkerLostError as error:
            with self._changed:
                count = len(waiting)
                self.lost += count
                for closure in waiting:
                    closure.lost += 1
                self._queue.extendleft(reversed(waiting))
                if waiting and waiting[0].lost >= _LOST_AT_MOST:
                    self._queue.popleft()
                    self._fail(waiting[0], _deadly(error))
                elif self._error is not None or self._stopped:
                    self._cancel()
                self._end(count)
            return True
        except BaseException as error:
            self._fail_first(waiting, error)
        else:
            if failed is not None:
                self._fail_first(waiting, failed)
        return False

    def _fail_first(self, closures: "collections.deque[_Closure]", error: BaseException) -> None:
        """Notes the error of the first of some closures that were handed out; the others have not run."""
        with self._changed:
            count = len(closures)
            failed = closures.popleft()
            self._queue.extendleft(reversed(closures))
            self._fail(failed, error)
            self._end(count)

    def _fail(self, closure: _Closure | None, error: BaseException) -> None:
        """Notes an error, of a closure or of all, and cancels what waits."""
        if not isinstance(error, Exception):
            cause, error = (
                error,
                RuntimeError(
                    f"A closure raised {type(error).__name__}({error}), which ends neither its worker nor the "
                    "coordinator's program. Raise another error in it, or return a value."
                ),
            )
            error.__cause__ = cause
        if closure is not None:
            closure.result.fail(error)
        if self._error is None:
            self._error = error
        self._cancel()

    def _end(self, count: int) -> None:
        with self._changed:
            self._running -= count
            self._changed.notify_all()

    def _restore(self, worker: Worker) -> bool:
        """Waits until a lost worker is back; returns False if the coordinator was stopped before."""
        try:
            while not worker.restore():
                with self._changed:
                    if self._changed.wait_for(lambda: self._stopped, _RETRY_SECONDS):
                        return False
        except Exception as error:
            with self._changed:
                if self._queue:
                    self._fail(None, error)
                    self._end(0)
        return True


def _fail(closures: Iterable[_Closure], error: Exception) -> None:
    for closure in closures:
        closure.result.fail(error)


def _resolved(
    closures: Sequence[_Closure],
) -> tuple[list[Callable[..., Any]], BaseException | None]:
    """Puts the results of others into closures.

    Returns:
        The functions, up to the first one that needs a result which there is not; and the error that is in its place.
    """
    functions: list[Callable[..., Any]] = []
    try:
        for closure in closures:
            functions.append(closure.resolved())
    except BaseException as error:
        return functions, error
    return functions, None


def _deadly(error: WorkerLostError) -> WorkerLostError:
    return WorkerLostError(
        f"{_LOST_AT_MOST} workers were lost while they ran the same closure, which may be what ended them: it may need "
        f"more memory than there is, or end its process. Look at the output of the workers. The last one: {error}"
    )


def _is_remote(leaf: object) -> bool:
    return isinstance(leaf, RemoteValue)


@atexit.register
def _stop_all() -> None:
    """Ends threads before Python does, which would do so in the middle of XLA's code."""
    for coordinator in list(_COORDINATORS):
        with contextlib.suppress(KeyboardInterrupt):  # it cannot end the program any sooner
            coordinator.stop(wait_seconds=5.0)
