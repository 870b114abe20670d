"""How far this process is: what it tells the others through the watchdog.

    from spmd.cluster.watchdog import progress

    with progress.busy("compiles train_step"):
        ...
    progress.step_started()  # right before each step that runs on all processes

Counted is what a process has asked its devices for, not what has come back: of processes that wait for each other in
step 8, those which are in it say 8, and the one that has not come to it says 7.

The counts of different processes are compared, so a step counts only if every process takes part in it.
"""

import contextlib
from collections.abc import Generator


class Progress:
    """A count of steps, and what keeps the process from the next one.

    Written by the thread that trains and read by the watchdog's, without a lock: a reader may see a
    count that is one step old.

    Examples:
        >>> progress = Progress()
        >>> progress.step_started()
        >>> with progress.busy("compiles"):
        ...     progress.steps, progress.doing
        (1, 'compiles')
    """

    __slots__ = ("doing", "steps", "waits")

    def __init__(self) -> None:
        self.steps = 0
        self.doing = ""
        self.waits = False

    def step_started(self) -> None:
        """Counts a step, before it is dispatched; costs an addition."""
        self.steps += 1

    @contextlib.contextmanager
    def busy(self, doing: str) -> Generator[None]:
        """Says that this process is at work, so that the others wait longer before they give it up.

        Args:
            doing: what it does, as in `"compiles train_step"`.
        """
        before, self.doing, self.waits = (self.doing, self.waits), doing, False
        try:
            yield
        finally:
            self.doing, self.waits = before

    @contextlib.contextmanager
    def waiting(self, for_what: str) -> Generator[None]:
        """Says that this process waits for what all of them compute, such as the loss of a step.

        If all wait and nobody gets on, their programs do not fit together, and the watchdog ends them.

        Args:
            for_what: what it waits for, as in `"the loss"`.
        """
        before, self.doing, self.waits = (self.doing, self.waits), f"waits for {for_what}", True
        try:
            yield
        finally:
            self.doing, self.waits = before


progress = Progress()
