"""The process of a task: started on a leash, its output shown, its process group killed when it ends."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from spmd.cluster import Task
from spmd.launch.guard import Guard
from spmd.launch.last_lines import LastLines
from spmd.launch.output import Printer

# A killed process ends at once, unless it is stuck in the kernel (a dead network drive).
SIGKILL_SECONDS = 10.0
# How long to wait for the rest of an ended process's output.
OUTPUT_SECONDS = 5.0


class Process:
    """A running task.

    It has a session of its own, so that Ctrl-C in the terminal reaches it once, through the launcher, and the
    processes that it starts can be killed with it.

    Args:
        task: the task.
        command: its command.
        environment: its whole environment.
        printer: shows its output.
        guard: kills it if this process dies.
    """

    def __init__(
        self,
        task: Task,
        command: Sequence[str],
        environment: Mapping[str, str],
        printer: Printer,
        guard: Guard,
    ) -> None:
        self.task = task
        self.returncode: int | None = None
        self.seconds = 0.0
        self._guard = guard
        self._since = time.monotonic()
        self.last_lines = LastLines()  # complete after `drain`
        words, inherited = guard.leash(command)
        self._child = subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(inherited,),
        )
        self.number = self._child.pid  # also that of its process group
        self.signals: list[int] = []  # that the launcher sent it
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        self._pumps = [
            printer.pump(str(task), "stdout", self._child.stdout),
            printer.pump(str(task), "stderr", self._child.stderr, self.last_lines.add),
        ]

    def has_ended(self) -> bool:
        """Tells whether it has ended; if so, sets `returncode` and kills the processes that it left behind."""
        if self.returncode is None and (code := self._child.poll()) is not None:
            self.seconds = time.monotonic() - self._since
            # First of all: the ID cannot be reused while the group has members, nor, if it has none, within the
            # moment that has passed.
            _signal_group(self.number, signal.SIGKILL)
            self._guard.release(self.number)
            self.returncode = code
        return self.returncode is not None

    def send(self, signal_number: int) -> None:
        """Sends it a signal; SIGKILL also goes to all processes that it started."""
        if self.has_ended():
            return
        self.signals.append(signal_number)
        if signal_number == signal.SIGKILL:
            _signal_group(self.number, signal_number)
        else:
            # Not to its helpers: a script that saves when asked to end still needs them.
            self._child.send_signal(signal_number)

    def drain(self, seconds: float) -> None:
        """Waits until all its output is shown, for at most `seconds`: a process that left its group may hold a pipe open."""
        deadline = time.monotonic() + seconds
        for pump in self._pumps:
            pump.join(max(0.0, deadline - time.monotonic()))


def _signal_group(group: int, signal_number: int) -> None:
    # macOS raises PermissionError for a group whose only members are zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal_number)
