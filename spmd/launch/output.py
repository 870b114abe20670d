"""Output of many processes in one place: whole lines, each prefixed with the name of its task.

A *pump* is a thread that reads one pipe of one process and splits its output into lines. The *printer* is the
only thread that writes, so that lines do not mix.
"""

import os
import queue
import re
import select
import threading
import time
from collections.abc import Callable
from typing import IO

from rich.console import Console
from rich.text import Text

_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_red")
# A longer line is shown in pieces: output without line breaks must not exhaust memory.
_MAX_BYTES = 1 << 20
# Gloo prints this for every group of processes that it connects, and nothing turns it off. Several threads may print it at
# a time, in pieces, so that a line holds some of them in any order.
_NOISE = re.compile(
    rb"(?:\d* ?(?:\[Gloo\] Rank|is connected to|peer ranks\.|Expected number of connected peer ranks is :) ?\d* ?)+"
)
_FILE_WIDTH = 120
# Lines that may wait for the printer. When there are more, processes block as they would on a terminal.
_MAX_WAITING = 1000


class LineSplitter:
    r"""Splits bytes into lines, in the state that a terminal would show last.

    Text that a carriage return overwrites (a progress bar) is shown only now and then. Bytes need not be UTF-8.

    Args:
        update_seconds: least time between two shown states of an unfinished line.
        clock: returns seconds.

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
        self._update_seconds, self._clock = update_seconds, clock
        self._partial = b""
        self._next_update = float("-inf")

    def feed(self, data: bytes) -> list[bytes]:
        """Adds bytes; returns the lines to show now, without line breaks."""
        *whole, self._partial = (self._partial + data).split(b"\n")
        lines = [line for each in whole for line in _final_state(each)]
        # A trailing carriage return may be the first half of a line break.
        state, returned, rest = self._partial[:-1].rpartition(b"\r")
        if returned:
            self._partial = rest + self._partial[-1:]
            shown = _final_state(state)
            if b"".join(shown).strip() and self._clock() >= self._next_update:
                self._next_update = self._clock() + self._update_seconds
                lines += shown
        if len(self._partial) > _MAX_BYTES:
            lines.append(self._partial)
            self._partial = b""
        return lines

    def end(self) -> list[bytes]:
        """Ends the input; returns the unfinished line, if there is one."""
        rest, self._partial = self._partial, b""
        return _final_state(rest) if rest else []


def _final_state(line: bytes) -> list[bytes]:
    """Returns what remains of a line after its carriage returns; a cleared progress bar leaves nothing."""
    state = line.rstrip(b"\r").rpartition(b"\r")[2]
    return [state] if state.strip() or b"\r" not in line.rstrip(b"\r") else []


class Printer:
    """Writes the lines of processes, and the launcher's own, to this process's outputs.

    `close` ends its thread. A reader that goes away (`| head`) stops the output, not the training.

    Args:
        stdout: for the processes' standard output.
        stderr: for their standard error and the launcher's own lines.
    """

    def __init__(self, stdout: IO[str], stderr: IO[str]) -> None:
        self._consoles = {"stdout": Console(file=stdout), "stderr": Console(file=stderr)}
        console = self._consoles["stderr"]
        if not console.is_terminal:  # a file, say: tables need not be as narrow as a terminal
            console.width = max(console.width, _FILE_WIDTH)
        self._lines: queue.SimpleQueue[tuple[str, bytes, bool] | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(_MAX_WAITING)
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
        """Starts a pump.

        Args:
            name: name of the task.
            output: `"stdout"` or `"stderr"`.
            pipe: where to read; closed at its end.
            remember: called with every line.

        Returns:
            The thread, which ends once all output is queued.
        """
        prefix = self._prefix(name, output)
        splitter = LineSplitter(1 if self._consoles[output].is_terminal else 10)

        def show(lines: list[bytes]) -> None:
            for line in lines:
                if _NOISE.fullmatch(line):
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
        """Prints a line of the launcher's own; does not wait."""
        self.print(Text.assemble(("[launch] ", "bold"), text))

    def print(self, what: object) -> None:
        """Prints what rich can render on standard error; does not wait."""
        console = self._consoles["stderr"]
        with console.capture() as capture:
            console.print(what, soft_wrap=isinstance(what, Text), highlight=False)
        self._lines.put(("stderr", capture.get().encode(), False))

    def close(self, seconds: float) -> None:
        """Writes what is queued, and ends the thread.

        Args:
            seconds: how long to wait while no line is written: the terminal may block, or a silent process hold a
                pipe open.
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
        except BlockingIOError:  # another process has made the shared terminal non-blocking
            select.select([], [file], [])
