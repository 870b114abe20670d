"""A process that outlives the launcher by a moment, and takes its tasks along if it dies.

The launcher can be killed in ways it never sees (`kill -9`, no memory), and its tasks must not go on
without it. Of the ways to see to that, this one covers the whole process group of a task, workers that
load its data included, on every Unix, and runs nothing between `fork` and `exec`, where a process with
threads must not run Python: `prctl(PR_SET_PDEATHSIG)` reaches direct children on Linux only, and is
lifted by the death of the thread that made them.

The *guard* (`_guard_main.py`) reads a pipe that only the launcher writes to; the system closes it when the
launcher dies, however it dies. A task is started through the *leash* (`_leash_main.py`), which writes its
process number into that pipe and then becomes the task. So there is no moment at which a task runs and the
guard does not know it: while the leash has not written yet, it holds the pipe open itself.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Isolated and without site-packages: they start in milliseconds, and no user code can break them.
_PYTHON = (sys.executable, "-I", "-S")
_HERE = Path(__file__).parent


class Guard:
    """Kills the process groups that it was told of when this process dies, or closes it."""

    def __init__(self) -> None:
        reading, self._pipe = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*_PYTHON, str(_HERE / "_guard_main.py")],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # away from the terminal's Ctrl-C and from kill -9 of our group
            )
        finally:
            os.close(reading)

    def leash(self, command: Sequence[str]) -> tuple[list[str], int]:
        """Wraps a command, so that the guard knows its process before the command runs.

        Args:
            command: the words of the command.

        Returns:
            The words to start instead, and the file that they must inherit.
        """
        return [*_PYTHON, str(_HERE / "_leash_main.py"), str(self._pipe), *command], self._pipe

    def release(self, process: int) -> None:
        """Tells that a process has ended; its number may come to belong to another one.

        Args:
            process: its number.
        """
        self._write(b"-%d\n" % process)

    def close(self) -> None:
        """Kills what is still there, and ends the guard."""
        os.close(self._pipe)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:  # it was stopped (SIGSTOP), and everything else has ended
            self._process.kill()
            self._process.wait()

    def _write(self, line: bytes) -> None:
        # Without a reader somebody killed the guard; the next start of the tasks has a new one.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, line)
