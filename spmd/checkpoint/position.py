"""Inputs that know where they are, so that training goes on with the batch that would have come next."""

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class HasPosition(Protocol):
    """An iterator whose position a checkpoint keeps.

    Grain's iterators have these two methods. In a cluster every process keeps the position of its own
    iterator.

    Examples:
        >>> from spmd.checkpoint import HasPosition
        >>> class Countdown:
        ...     def __init__(self, start):
        ...         self.left = start
        ...
        ...     def get_state(self):
        ...         return {"left": self.left}
        ...
        ...     def set_state(self, state):
        ...         self.left = state["left"]
        >>> isinstance(Countdown(3), HasPosition)
        True

    Source: `grain.DatasetIterator`.
    """

    def get_state(self) -> Any:
        """Tells the position.

        Returns:
            What JSON can hold (numbers, strings, lists, dicts), or bytes.
        """
        ...

    def set_state(self, state: Any) -> None:
        """Goes to a position.

        Args:
            state: what `get_state` gave.
        """
        ...
