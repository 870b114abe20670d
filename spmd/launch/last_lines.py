"""The last lines of a process's standard error, which say why it failed."""

import re
from collections import deque

# What the summary shows of standard error: so many lines, so many letters of each.
_COUNT = 3
_LONGEST = 500

# What the watchdog adds at the end, with a step that may be another one at each start; stacks may follow.
_OF_WATCHDOG = re.compile(r"jaxtribute: .*, exits with code ")
_STACKS = "Its Python stacks:"


class LastLines:
    """Remembers the last lines that a script wrote itself.

    Examples:
        >>> lines = LastLines()
        >>> for line in (
        ...     "ValueError: no data",
        ...     "",
        ...     "jaxtribute: worker 0, at step 8, exits with code 1, and the other tasks end too.",
        ... ):
        ...     lines.add(line)
        >>> lines.lines
        ('ValueError: no data',)
    """

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_COUNT)
        self._over = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, the last one last."""
        return tuple(self._lines)

    def add(self, line: str) -> None:
        """Takes the next line.

        Args:
            line: without its end.
        """
        if line.strip() and not self._over and not _OF_WATCHDOG.match(line):
            self._lines.append(line.strip()[:_LONGEST])
        self._over = self._over or line.endswith(_STACKS)
