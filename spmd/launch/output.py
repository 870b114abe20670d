"""Output of many processes in one place: whole lines, each behind the name of its task.

A *pump* is a thread that reads one pipe of one process and splits what comes into lines. The *printer*
is the thread that writes; it is the only one, so that no line is interrupted by another.
"""

import os
import queue
import select
import threading
import time
from collections.abc import Callable
from typing import IO

from rich.console import Console
from rich.text import Text

_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_red")
# A line longer than this is shown in pieces: somebody who never ends a line must not take all memory.
_LONGEST = 1 << 20
# What gloo prints for every collective group that it connects, and nothing can turn off.
_NOISE = b"[Gloo] Rank "
# Lines that may wait for the printer. When there are more, processes wait as they would for a terminal.
_WAITING = 1000


class LineSplitter:
    r"""Splits bytes into lines as a terminal would show them in the end.

    What a carriage return starts anew (a progress bar) is left out, but for a state now and then, so
    that a log shows progress and yet stays readable. Bytes need not be UTF-8.

    Args:
        update_seconds: least time between two states that are shown of a line that is not over.
        clock: tells the time in seconds.

    Examples:
        >>> splitter = LineSplitter(update_seconds=60, clock=lambda: 0.0)
        >>> splitter.feed(b"one\ntwo")
        [b'one']
        >>> splitter.feed(b"\n 1%\r 2%\r 3%\r")  # the first state, at once
        [b'two', b' 2%']
        >>> splitter.feed(b" 4%\r 5%")
        []
        >>> splitter.end()
        [b' 5%']
    """

    def __init__(self, update_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._update_seconds = update_seconds
        self._clock = clock
        self._partial = b""
        self._next_update = float("-inf")

    def feed(self, data: bytes) -> list[bytes]:
        """Takes what was read.

        Args:
            data: any number of bytes.

        Returns:
            The lines to show now, without their ends.
        """
        *whole, self._partial = (self._partial + data).split(b"\n")
        lines = [line for each in whole for line in _final_state(each)]
        # A carriage return that comes last may be half of a line's end.
        state, returned, rest = self._partial[:-1].rpartition(b"\r")
        if returned:
            self._partial = rest + self._partial[-1:]
            shown = _final_state(state)
            if b"".join(shown).strip() and self._clock() >= self._next_update:
                self._next_update = self._clock() + self._update_seconds
                lines += shown
        if len(self._partial) > _LONGEST:
            lines.append(self._partial)
            self._partial = b""
        return lines

    def end(self) -> list[bytes]:
        """Tells that nothing more comes.

        Returns:
            The line that was not ended, if there is one.
        """
        rest, self._partial = self._partial, b""
        return _final_state(rest) if rest else []


def _final_state(line: bytes) -> list[bytes]:
    """What is left of a line after its carriage returns; a progress bar that was wiped leaves nothing."""
    state = line.rstrip(b"\r").rpartition(b"\r")[2]
    return [state] if state.strip() or b"\r" not in line.rstrip(b"\r") else []


class Printer:
    """Writes lines of processes, and the launcher's own, to this process's outputs.

    Its thread ends with `close`. A reader that goes away (`| head`) stops the output, not the training.

    Args:
        stdout: where standard output goes.
        stderr: where standard error and the launcher's own lines go.
    """

    def __init__(self, stdout: IO[str], stderr: IO[str]) -> None:
        self._consoles = {"stdout": Console(file=stdout), "stderr": Console(file=stderr)}
        self._lines: queue.SimpleQueue[tuple[str, bytes, bool] | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(_WAITING)
        self._colours: dict[str, str] = {}
        self._written = 0
        self._pumps: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._write, name="spmd-launch-printer", daemon=True)
        self._thread.start()

    def pump(
        self,
        name: str,
        output: str,
        pipe: IO[bytes],
        remember: Callable[[str], None] = lambda _: None,
    ) -> threading.Thread:
        """Starts to show what comes out of a pipe, until its end.

        Args:
            name: name of the task.
            output: `"stdout"` or `"stderr"`.
            pipe: where to read; it is closed at the end.
            remember: is called with every line.

        Returns:
            The thread that reads; it ends when all has been handed to the printer.
        """
        prefix = self._prefix(name, output)
        splitter = LineSplitter(1 if self._consoles[output].is_terminal else 10)

        def show(lines: list[bytes]) -> None:
            for line in lines:
                if line.startswith(_NOISE):
                    continue
                remember(line.decode(errors="replace"))
                self._room.acquire()
                self._lines.put((output, prefix + line + b"\n", True))

        def read() -> None:
            with pipe:
                while data := os.read(pipe.fileno(), 1 << 16):
                    show(splitter.feed(data))
                show(splitter.end())

        thread = threading.Thread(target=read, name=f"spmd-launch-{name}-{output}", daemon=True)
        thread.start()
        self._pumps = [*(pump for pump in self._pumps if pump.is_alive()), thread]
        return thread

    def say(self, text: str) -> None:
        """Shows a line of the launcher's own; does not wait.

        Args:
            text: the line.
        """
        self.print(Text.assemble(("[launch] ", "bold"), text))

    def print(self, what: object) -> None:
        """Shows what rich can show, on standard error; does not wait.

        Args:
            what: the text or table.
        """
        console = self._consoles["stderr"]
        with console.capture() as capture:
            console.print(what, soft_wrap=isinstance(what, Text), highlight=False)
        self._lines.put(("stderr", capture.get().encode(), False))

    def close(self, seconds: float) -> None:
        """Writes what waits, and ends the thread.

        Args:
            seconds: how long to wait without a single line being written: for a terminal that takes nothing,
                or a process that holds an output open and says nothing.
        """
        for pump in self._pumps:
            self._wait(pump, seconds)
        self._lines.put(None)
        self._wait(self._thread, seconds)

    def _wait(self, thread: threading.Thread, seconds: float) -> None:
        written = -1
        while thread.is_alive() and written != self._written:
            written = self._written
            thread.join(seconds)

    def _prefix(self, name: str, output: str) -> bytes:
        colour = self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])
        console = self._consoles[output]
        with console.capture() as capture:
            console.print(Text(f"[{name}]", colour), end=" ")
        return capture.get().encode()

    def _write(self) -> None:
        broken: set[str] = set()
        while (item := self._lines.get()) is not None:
            output, data, counted = item
            if output not in broken:
                try:
                    _write_all(self._consoles[output].file.fileno(), data)
                except OSError:
                    broken.add(output)
            self._written += 1
            if counted:
                self._room.release()


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(file, view) :]
        except BlockingIOError:  # another process that shares the terminal has made it so
            select.select([], [file], [])
