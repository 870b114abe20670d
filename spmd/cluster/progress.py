"""The progress of this process, which it reports to the others through the watchdog.

    from spmd.cluster import progress

    with progress.busy("compiles train_step"):
        ...
    progress.step_started()  # right before each step that runs on all processes
    progress.step_dispatched(state, results)  # right after

A step counts once it is dispatched, whether or not it has finished: of processes that wait for each other in step 8,
those in it report 8, and the straggler reports 7.

Processes compare their counts, so only steps count in which all of them take part. They also compare *orders*: a
hash for each count, of all steps up to it, which is equal in processes that ran the same steps in the same order.
"""

import contextlib
import dataclasses
import functools
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Any

_REMEMBERED = 1024  # steps; process 0 must be ahead of what it hears from others by less
_REPORTED = 16
_FACTOR = 6364136223846793005  # Knuth's, of a generator modulo 2**64
_MASK = 2**64 - 1


class Progress:
    """A count of steps, and what the process does between them.

    The training thread writes and the watchdog's reads, without a lock: a reader may see a count that is
    one step old. A count and its order are one tuple, so that they always match.

    Examples:
        >>> progress = Progress()
        >>> progress.step_started()
        >>> with progress.busy("compiles"):
        ...     progress.steps, progress.doing
        (1, 'compiles')
    """

    __slots__ = ("_activities", "_last", "_output", "_past", "call", "waits_for")

    def __init__(self) -> None:
        self._last: tuple[int, int] = (0, 0)
        self._past: list[tuple[int, int]] = [(0, 0)] * _REMEMBERED
        self._activities: list[_Activity] = []
        self.call = ""
        self.waits_for: int | None = None
        # Returns an array of the last step; None while a step is dispatched, which has no output yet.
        self._output: Callable[[], Any] | None = _nothing

    @property
    def steps(self) -> int:
        """Number of steps started."""
        return self._last[0]

    @property
    def orders(self) -> list[tuple[int, int]]:
        """The last 16 counts and their orders, latest first."""
        counts = range(self.steps, max(self.steps - _REPORTED, -1), -1)
        return [self._past[count % _REMEMBERED] for count in counts]

    def agrees(self, orders: Sequence[tuple[int, int]]) -> bool:
        """Tells whether a process with these `orders` has run the same steps in the same order, as far as is known."""
        for count, order in orders:
            known, mine = self._past[count % _REMEMBERED]
            if known == count:
                return order == mine  # an order covers all steps before it
        return True

    @property
    def doing(self) -> str:
        """What the process does between steps, if it says so: of several threads, the one that began last."""
        latest = self._activities[-1:]  # a copy: other threads may end theirs meanwhile
        return latest[0].name if latest else ""

    @property
    def waits(self) -> bool:
        """Whether the process waits for the devices: it says so, or they have not finished the last step."""
        latest, output = self._activities[-1:], self._output
        if latest or output is None:
            return not latest or latest[0].waits
        try:
            array = output()
            return array is not None and not array.is_ready()
        except RuntimeError:  # deleted or donated, so nobody waits for it
            return False

    def step_started(self, program: int = 0) -> None:
        """Counts a step, before it is dispatched, of a program with this 64-bit hash, equal in all processes."""
        self._output = None
        steps, order = self._last
        steps += 1
        last = self._past[steps % _REMEMBERED] = (steps, (order ^ program) * _FACTOR + 1 & _MASK)
        self._last = last

    def step_dispatched(self, state: Sequence[Any], results: Sequence[Any]) -> None:
        """Records that a step was dispatched, or failed; costs less than a microsecond.

        Args:
            state: output arrays that become state; held weakly, so that they may be donated.
            results: other output arrays; if there is no state, one is kept alive until the next step.
        """
        for array in state:
            if hasattr(array, "is_ready"):  # random keys lack it
                self._output = weakref.ref(array)
                return
        for array in results:
            if hasattr(array, "is_ready"):
                self._output = lambda array=array: array
                return
        self._output = _nothing

    @contextlib.contextmanager
    def calling(self, call: str) -> Generator[Callable[[int], None]]:
        """Reports that this process waits in a call that all must make; does nothing on threads other than the main one.

        The name and number in `call` are equal in all processes. Tasks that wait in different calls are ended, so calls of
        one name must all come from main threads, or none.

        Yields:
            A function that takes the process which has not made the call yet, as far as this one knows.
        """
        if threading.current_thread() is not threading.main_thread():
            yield lambda process: None
            return
        self.call = call
        try:
            yield functools.partial(setattr, self, "waits_for")
        finally:
            self.call, self.waits_for = "", None

    def busy(self, doing: str) -> contextlib.AbstractContextManager[None]:
        """Reports that this process is at work, so that the others are more patient; `doing` as in `"compiles train_step"`."""
        return self._during(_Activity(doing, waits=False))

    def waiting(self, for_what: str) -> contextlib.AbstractContextManager[None]:
        """Reports that this process waits for what all of them compute, such as `"the loss"`.

        If all of them wait and none makes progress, the watchdog ends them.
        """
        return self._during(_Activity(f"waits for {for_what}", waits=True))

    @contextlib.contextmanager
    def _during(self, activity: "_Activity") -> Generator[None]:
        # Threads end in any order, so each removes its own; a list's append and remove are atomic.
        self._activities.append(activity)
        try:
            yield
        finally:
            self._activities.remove(activity)


@dataclasses.dataclass(frozen=True, eq=False)
class _Activity:
    """What a thread does between steps, and whether it waits for the devices."""

    name: str
    waits: bool


def _nothing() -> None:
    return None


progress = Progress()
