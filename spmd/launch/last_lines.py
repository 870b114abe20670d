"""The last lines of a process's standard error, which tend to say why it failed."""

import re
from collections import deque
from collections.abc import Sequence

# What the summary shows of standard error: lines, and characters of each.
_MAX_LINES = 3
_MAX_CHARACTERS = 500

# The watchdog's last line, whose step differs between attempts; stacks may follow.
_OF_WATCHDOG = re.compile(r"jaxtribute: .*, exits with code ")
# The first line of what Python says of an exception.
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt|Iteration)\b(:|$)")
_STACKS = "Its Python stacks:"

# What JAX writes below a traceback that it shortened, the same after every error.
_NOTE_OF_JAX = "For simplicity, JAX has removed its internal frames"
_RULE_OF_JAX = re.compile(r"-{20}")


def error_in(lines: Sequence[str]) -> str:
    """Returns the line that says why a process failed: that of an exception, else the last one.

    Examples:
        >>> error_in(["raise ValueError(text)", "ValueError: no data", "Closed 2 files."])
        'ValueError: no data'
    """
    exceptions = [line for line in lines if _EXCEPTION.match(line)]
    return (exceptions or [*lines] or [""])[-1]


class LastLines:
    """The last lines that the script itself wrote, the latest last.

    Examples:
        >>> lines = LastLines()
        >>> for line in (
        ...     "ValueError: no data",
        ...     "",
        ...     "jaxtribute: worker 0, at step 8, exits with code 1, and the other tasks end too.",
        ... ):
        ...     lines.add(line)
        >>> list(lines.lines)
        ['ValueError: no data']
    """

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=_MAX_LINES)
        self._over = False

    def add(self, line: str) -> None:
        """Adds a line, given without its line break."""
        text = line.strip()
        of_others = _OF_WATCHDOG.match(line) or text.startswith(_NOTE_OF_JAX)
        if text and not self._over and not of_others and not _RULE_OF_JAX.fullmatch(text):
            self.lines.append(text[:_MAX_CHARACTERS])
        self._over = self._over or line.endswith(_STACKS)
