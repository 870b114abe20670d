"""How far this process is: what it tells the others through the watchdog.

    from spmd.cluster.watchdog import progress

    with progress.busy("compiles train_step"):
        ...
    progress.step_started()  # right before each step that runs on all processes
    progress.step_dispatched(state, results)  # right after

Counted is what a process has asked its devices for, not what has come back: of processes that wait for each other in
step 8, those which are in it say 8, and the one that has not come to it says 7.

The counts of different processes are compared, so a step counts only if every process takes part in it. So are
their *orders*, a number for each count, made of all steps up to it: processes that ran the same steps in the same
order have the same.
"""

import contextlib
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Any

_REMEMBERED = 1024  # steps: by less than so many may process 0 be ahead of what it hears of another
_TOLD = 16
_FACTOR = 6364136223846793005  # Knuth's, of a generator modulo 2**64
_MASK = 2**64 - 1


class Progress:
    """A count of steps, and what keeps the process from the next one.

    Written by the thread that trains and read by the watchdog's, without a lock: a reader may see a
    count that is one step old. A count and its order are one tuple, so that they fit together.

    Examples:
        >>> progress = Progress()
        >>> progress.step_started()
        >>> with progress.busy("compiles"):
        ...     progress.steps, progress.doing
        (1, 'compiles')
    """

    __slots__ = ("_last", "_output", "_past", "_says_it_waits", "call", "doing")

    def __init__(self) -> None:
        self._last: tuple[int, int] = (0, 0)
        self._past: list[tuple[int, int]] = [(0, 0)] * _REMEMBERED
        self.doing = self.call = ""
        self._says_it_waits = False
        self._output: Callable[[], Any] = _nothing

    @property
    def steps(self) -> int:
        """How many steps it has started."""
        return self._last[0]

    @property
    def orders(self) -> list[tuple[int, int]]:
        """The last 16 counts and their orders, latest first."""
        counts = range(self.steps, max(self.steps - _TOLD, -1), -1)
        return [self._past[count % _REMEMBERED] for count in counts]

    def agrees(self, orders: Sequence[tuple[int, int]]) -> bool:
        """Tells whether another process has run the same steps in the same order, as far as both are known.

        Args:
            orders: the `orders` of the other one.
        """
        for count, order in orders:
            known, mine = self._past[count % _REMEMBERED]
            if known == count:
                return order == mine  # and so were all before
        return True

    @property
    def waits(self) -> bool:
        """Whether it waits for what all compute: it says so, or its devices have not finished the last step."""
        if self._says_it_waits:
            return True
        return not self.doing and _is_unfinished(self._output())

    def step_started(self, program: int = 0) -> None:
        """Counts a step, before it is dispatched.

        Args:
            program: a number of 64 bits that stands for what is run, the same in all processes.
        """
        self._output = _to_come  # where a dispatch blocks, there is no output to look at
        steps, order = self._last
        steps += 1
        last = self._past[steps % _REMEMBERED] = (steps, (order ^ program) * _FACTOR + 1 & _MASK)
        self._last = last

    def step_dispatched(self, state: Sequence[Any], results: Sequence[Any]) -> None:
        """Says that the devices have a step, or that it failed; costs less than a microsecond.

        Args:
            state: arrays that the step gives and others keep; not kept alive, so that they may be donated.
            results: other arrays that it gives; if there is no state, one is kept alive until the next step.
        """
        for array in state:
            if hasattr(array, "is_ready"):  # random keys have not
                self._output = weakref.ref(array)
                return
        for array in results:
            if hasattr(array, "is_ready"):
                self._output = lambda array=array: array
                return
        self._output = _nothing

    @contextlib.contextmanager
    def calling(self, call: str) -> Generator[None]:
        """Says that this process waits in what all must call; on other threads than the main one it says nothing.

        Tasks that wait in different calls are ended: so calls of one name are either all of main threads, or none.

        Args:
            call: the name and number of the call, which all processes give it.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.call = call
        try:
            yield
        finally:
            self.call = ""

    @contextlib.contextmanager
    def busy(self, doing: str) -> Generator[None]:
        """Says that this process is at work, so that the others wait longer before they give it up.

        Args:
            doing: what it does, as in `"compiles train_step"`.
        """
        before = self.doing, self._says_it_waits
        self.doing, self._says_it_waits = doing, False
        try:
            yield
        finally:
            self.doing, self._says_it_waits = before

    @contextlib.contextmanager
    def waiting(self, for_what: str) -> Generator[None]:
        """Says that this process waits for what all of them compute, such as the loss of a step.

        If all wait and nobody gets on, the watchdog ends them.

        Args:
            for_what: what it waits for, as in `"the loss"`.
        """
        before = self.doing, self._says_it_waits
        self.doing, self._says_it_waits = f"waits for {for_what}", True
        try:
            yield
        finally:
            self.doing, self._says_it_waits = before


class _ToCome:
    """Stands for the output of a step that is still being dispatched."""

    def is_ready(self) -> bool:
        return False


_TO_COME = _ToCome()


def _to_come() -> _ToCome:
    return _TO_COME


def _nothing() -> None:
    return None


def _is_unfinished(output: Any) -> bool:
    try:
        return output is not None and not output.is_ready()
    except RuntimeError:  # it was deleted or donated, so nobody waits for it
        return False


progress = Progress()
