"""Iterators over placed batches: with a thread that works ahead of the training loop, or without.

The thread, named `spmd-input`, is a daemon. It shares only a bounded *buffer* with the iterator, so an
iterator without references is collected, and its finalizer stops the thread. The thread alone runs
the source, and closes it.
"""

import abc
import collections
import threading
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, Self, TypeAlias, final

from spmd.input.position import Position
from spmd.typing import Json, PyTree

# A stuck source must not hang the code that leaves the loop; its thread ends when it returns.
_JOIN_SECONDS = 5.0


class BatchIterator(Iterator[PyTree]):
    """One pass over distributed batches; leave it early by `close()`, `with`, or by dropping it.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> with iter(spmd.distribute(np.arange(6), mesh, batch_size=4)) as batches:
        ...     next(batches)
        PerReplica(0: [0, 1, 2, 3])
    """

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the pass and closes the source's iterator; calling it again does nothing.

        Waits for a batch that is being made, for a few seconds at most.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# What makes batches, on a thread or when it is asked for one.
_Batches: TypeAlias = BatchIterator | Generator[Any, None, None]


@final
class ResumableIterator(BatchIterator):
    """A pass that knows how far it has come, and can go on where another one was.

    Attributes:
        progress: how far it has come, kept up to date; see `get_state`.
    """

    def __init__(
        self,
        progress: Position,
        position: Callable[[], Json],
        begin: Callable[[Json, int], _Batches],
        *,
        resumed: bool,
        ahead: bool,
    ) -> None:
        """Begins a pass.

        Args:
            progress: its position.
            position: returns what a pass that begins now depends on.
            begin: begins the pass of a position, without its first batches; None is a new pass. Each batch
                comes with how many batches of the source it took: more than one, if some were dropped.
            resumed: whether it continues another pass.
            ahead: whether to begin now, before the first batch is asked for.
        """
        self.progress = progress
        self._tell, self._begin, self._resumed = position, begin, resumed
        self._batches: _Batches | None = self._started() if ahead else None

    def __next__(self) -> Any:
        if self._batches is None:
            self._batches = self._started()
        try:
            count, batch = next(self._batches)
        except StopIteration:
            self.progress.begin(self._tell())
            raise
        self.progress.advance(count)
        return batch

    def get_state(self) -> dict[str, Any]:
        """Returns how far the pass has come; after its end, where the next one begins.

        Returns:
            Which pass it is, and how many batches were handed out; a dict of JSON's types, the same in
            all processes.
        """
        return self.progress.state()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continues where another pass over the same source was, with its next batch.

        Args:
            state: what its `get_state` returned, in this process or an earlier one, on any number of
                devices.

        Raises:
            BatchError: the data was divided among another number of processes.
        """
        self.progress.go_to(state)
        self.close()
        self._batches, self._resumed = None, True

    def close(self) -> None:
        """Ends the pass and closes the source's iterator."""
        if self._batches is None:
            self._batches = (_ for _ in ())
        self._batches.close()

    def _started(self) -> _Batches:
        at = self.progress
        return self._begin(at.position, at.batches) if self._resumed else self._begin(None, 0)


@final
class PrefetchIterator(BatchIterator):
    """Makes batches on a thread, up to a number of them ahead."""

    def __init__(
        self, begin: Callable[[Callable[[], bool]], Generator[Any, None, None]], size: int
    ) -> None:
        """Starts the thread.

        Args:
            begin: begins to make batches, on the thread; it is given a function that tells whether they are
                still wanted, and must stop waiting once they are not.
            size: how many batches may wait on the devices, at least 1.
        """
        self._buffer = _Buffer(size)
        batches = begin(self._buffer.is_wanted)
        thread = threading.Thread(
            target=_fill, args=(self._buffer, batches), name="spmd-input", daemon=True
        )
        thread.start()
        self._finalizer = weakref.finalize(self, _stop, self._buffer, thread)

    def __next__(self) -> Any:
        try:
            return self._buffer.take()
        except BaseException:
            # The pass is over: the thread has ended by the time that the caller knows.
            self.close()
            raise

    def close(self) -> None:
        """Ends the pass; the thread closes the source's iterator."""
        self._finalizer()


@final
class _Buffer:
    """Batches between the thread that makes them and the iterator that hands them out."""

    def __init__(self, size: int) -> None:
        # The condition's lock is reentrant: a garbage collection inside of it may run a finalizer.
        self._condition = threading.Condition()
        self._size = size
        self._batches: collections.deque[Any] = collections.deque()
        self._ended = False
        self._reason: BaseException = StopIteration()

    def is_wanted(self) -> bool:
        """Tells whether a batch is wanted at all."""
        return not self._ended

    def wait_for_room(self) -> bool:
        """Waits until there is room for a batch; returns False if no more are wanted."""
        with self._condition:
            self._condition.wait_for(lambda: self._ended or len(self._batches) < self._size)
            return not self._ended

    def put(self, batch: PyTree) -> None:
        """Adds a batch."""
        with self._condition:
            if not self._ended:
                self._batches.append(batch)
                self._condition.notify_all()

    def end(self, reason: BaseException) -> None:
        """Marks the end; batches in the buffer are still handed out, then the error that is the reason."""
        with self._condition:
            if not self._ended:
                self._ended, self._reason = True, reason
                self._condition.notify_all()

    def stop(self) -> None:
        """Marks batches as no longer wanted, and drops those in the buffer."""
        with self._condition:
            self._ended, self._reason = True, StopIteration()
            self._batches.clear()
            self._condition.notify_all()

    def take(self) -> PyTree:
        """Waits for the next batch."""
        with self._condition:
            self._condition.wait_for(lambda: self._ended or self._batches)
            if self._batches:
                batch = self._batches.popleft()
                self._condition.notify_all()
                return batch
            reason, self._reason = self._reason, StopIteration()
        try:
            raise reason
        finally:
            del reason  # else the error's traceback would hold this frame, and the frame the error


def _fill(buffer: _Buffer, batches: Generator[Any, None, None]) -> None:
    # Wait for room first: no more batches than asked for are on the devices, not even the next one.
    try:
        while buffer.wait_for_room():
            buffer.put(next(batches))
    except BaseException as reason:
        # StopIteration, or an error of any kind: the training loop must get it.
        buffer.end(reason)
    finally:
        batches.close()


def _stop(buffer: _Buffer, thread: threading.Thread) -> None:
    buffer.stop()
    # A finalizer can run on any thread, the one to be stopped included.
    if thread is not threading.current_thread():
        thread.join(_JOIN_SECONDS)
