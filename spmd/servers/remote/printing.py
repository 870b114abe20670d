"""What the code of a process prints, collected for the program that it works for."""

import io
import threading

# A stream's number, 1 or 2 as its file descriptor's, and text.
Printed = tuple[int, str]


class Printout:
    r"""Collects what is printed to the standard streams, until it is taken.

    Examples:
        >>> printout = Printout()
        >>> print("a line", file=printout.stream(1))
        >>> printout.count, printout.take(0.0)
        (7, [(1, 'a line'), (1, '\n')])
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._parts: list[Printed] = []
        self._closed = False
        self.count = 0

    def stream(self, number: int) -> io.TextIOBase:
        """Makes a stream whose text is collected."""
        return _Stream(self, number)

    def add(self, number: int, text: str) -> None:
        """Adds text; safe to call from any thread."""
        with self._changed:
            self._parts.append((number, text))
            self.count += len(text)
            self._changed.notify()

    def close(self) -> None:
        """Has nobody wait any longer."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self, seconds: float) -> list[Printed]:
        """Returns what was printed and not yet taken; waits for so long until there is something."""
        with self._changed:
            self._changed.wait_for(lambda: self._parts or self._closed, seconds)
            parts, self._parts = self._parts, []
        return parts


class _Stream(io.TextIOBase):
    encoding = "utf-8"

    def __init__(self, printout: Printout, number: int) -> None:
        self._printout, self._number = printout, number

    def write(self, text: str) -> int:
        self._printout.add(self._number, text)
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number
