"""How far a pass over an input has come, with or without batches that were read but not used yet.

A script may read a batch, and be told to save before it trains on it. The checkpoint must count that batch as
unread. So the code that decides when to save also says when the batches read so far have been used.
"""

import contextlib
import types
from collections.abc import Generator, Mapping
from typing import Any

from spmd.errors import BatchError
from spmd.typing import Json


class Position:
    """Which pass it is, and how many batches it has handed out.

    Examples:
        >>> position = Position("first")
        >>> position.advance()
        >>> with without_unused():
        ...     position.state()
        {'position': 'first', 'batches': 0}
        >>> mark_used()
        >>> with without_unused():
        ...     position.state()
        {'position': 'first', 'batches': 1}
    """

    def __init__(self, position: Json, *, parts: int = 1) -> None:
        """Begins a pass.

        Args:
            position: what the pass depends on.
            parts: into how many parts processes divide the data; 1 if each reads all of it.
        """
        self.parts = parts
        self.begin(position)

    def begin(self, position: Json, batches: int = 0) -> None:
        """Begins another pass; see `__init__`."""
        self.position, self.batches = position, batches
        self._mark, self._at_mark = -1, batches

    def advance(self, batches: int = 1) -> None:
        """Counts a batch that is handed out, and those that were dropped before it."""
        if self._mark != _marks.used:
            self._mark, self._at_mark = _marks.used, self.batches
        self.batches += batches

    def state(self) -> dict[str, Any]:
        """Returns the position as a checkpoint keeps it, in JSON's types."""
        unused = _marks.leave_out and self._mark == _marks.used
        return {
            "position": self.position,
            "batches": self._at_mark if unused else self.batches,
            **({"parts": self.parts} if self.parts > 1 else {}),
        }

    def go_to(self, state: Mapping[str, Any]) -> None:
        """Goes to a position that `state` returned.

        Raises:
            BatchError: the data was divided into another number of parts.
        """
        parts = state.get("parts", 1)
        if parts != self.parts:
            raise BatchError(
                f"The data was divided among {parts} process(es) when its position was saved, and is now "
                f"divided among {self.parts}, so it is not known which rows were read. Go on with {parts}, or "
                "let each process read all of the data: AutoShardPolicy.DATA, per_process=False."
            )
        self.begin(state["position"], state["batches"])


_marks = types.SimpleNamespace(used=0, leave_out=False)


def mark_used() -> None:
    """Marks all batches read so far as used."""
    _marks.used += 1


@contextlib.contextmanager
def without_unused() -> Generator[None]:
    """Makes positions in the block leave out the batches that were read since `mark_used`."""
    _marks.leave_out = True
    try:
        yield
    finally:
        _marks.leave_out = False
