"""A process that briefly outlives the launcher, and kills its tasks if the launcher dies.

Its tasks must not outlive a launcher that is killed without warning (`kill -9`, out of memory). The guard covers the whole
process group of a task, data loaders included, and runs no Python between `fork` and `exec`, which is unsafe in a process
with threads. (`prctl(PR_SET_PDEATHSIG)` reaches direct children on Linux only, and fires when the thread that started them
ends.)

The *guard* (`_guard_main.py`) reads a pipe that the kernel closes when the launcher dies. A task is started through the
*leash* (`_leash_main.py`), which writes its process ID into that pipe and then becomes the task. So the guard knows of each
task that runs: until the leash has written, it holds the pipe open itself.
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
    """Kills the process groups, and removes the folders, that it knows of when this process dies or closes it."""

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

        Returns:
            The words to start instead, and the file descriptor that they must inherit.
        """
        return [*_PYTHON, str(_HERE / "_leash_main.py"), str(self._pipe), *command], self._pipe

    def release(self, process: int) -> None:
        """Forgets a process that has ended, since its ID may be reused."""
        # The pipe breaks if the guard was killed; the next attempt has a new one.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, b"-%d\n" % process)

    def remove(self, folder: Path) -> None:
        """Removes a folder in the end."""
        os.write(self._pipe, f"{folder.resolve()}\n".encode())

    def close(self) -> None:
        """Kills what still runs, removes folders, and ends the guard."""
        os.close(self._pipe)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:  # the guard got SIGSTOP; all tasks have ended
            self._process.kill()
            self._process.wait()
