"""What bounds those who connect and have not proven anything: how many, how long, how much of them is shown.

Whoever listens for tasks or agents has these bounds: a stranger may send what it likes, as slowly as it likes, as often as it
likes.
"""

import contextlib
import socket
import time
from collections.abc import Callable

from spmd.cluster.wire import Line

MOST = 64  # the oldest goes when there are more
ANSWER_SECONDS = 5.0  # that whoever connects has to answer, and that a stranger has in all, whatever it sends meanwhile
MOST_REFUSALS = 10  # which are told of; a stranger could fill a disk with them


class Strangers:
    """Connections of which nothing is known yet."""

    def __init__(self) -> None:
        self._arrived: dict[Line, float] = {}

    def accept(self, listener: socket.socket, most_bytes: int) -> Line | None:
        """Takes a connection.

        Args:
            listener: has one.
            most_bytes: that the stranger may send in a message.

        Returns:
            A line to the stranger; None if it is gone already.
        """
        with contextlib.suppress(OSError):
            line = Line(listener.accept()[0])
            line.most_bytes = most_bytes
            self._arrived[line] = time.monotonic()
            return line
        return None

    def forget(self, line: Line) -> None:
        """Makes a line one of nobody's concern: it is known now, or closed."""
        self._arrived.pop(line, None)

    def overdue(self) -> list[Line]:
        """Lists those that take too long, and the oldest if they are too many."""
        now, lines = time.monotonic(), list(self._arrived)
        crowded = set(lines[: max(0, len(lines) - MOST)])
        return [
            line
            for line, at in self._arrived.items()
            if line in crowded or now - at > ANSWER_SECONDS
        ]


class Refusals:
    """Tells of those who were sent away, of each in the same way once, and of not too many.

    Args:
        say: shows a line.

    Attributes:
        problems: why they were sent away.

    Examples:
        >>> refusals = Refusals(print)
        >>> for _ in range(2):
        ...     refusals.tell("It has no secret.", "sent 10.0.0.9 away.")
        sent 10.0.0.9 away. It has no secret.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.problems: list[str] = []

    def tell(self, problem: str, who: str) -> None:
        """Says why somebody was sent away, unless that was said, or too much was.

        Args:
            problem: why, a sentence.
            who: the sentence before it.
        """
        if problem not in self.problems and len(self.problems) < MOST_REFUSALS:
            self.problems.append(problem)
            self._say(f"{who} {problem}")


def plain(value: object, most: int) -> str:
    r"""Shows what a stranger sent: short, on one line, without characters that a terminal would act on.

    Examples:
        >>> plain("\x1b[31mred", 100), plain("a" * 9, 3)
        ('?[31mred', 'aaa...')
    """
    text = str(value)[: most + 1]
    text = "".join(one if one.isprintable() and one.isascii() else "?" for one in text)
    return text if len(text) <= most else f"{text[:most]}..."
