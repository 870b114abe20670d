"""Who hears of writes: whoever knows variables by the arrays that they hold."""

from typing import Any, Protocol
from weakref import WeakSet

from spmd.typing import LibraryVariable, PyTree


class WriteObserver(Protocol):
    """Knows variables by the arrays that they hold, and so must hear of writes."""

    def on_overwrite(self, variable: LibraryVariable, value: PyTree) -> None:
        """Hears that a variable loses its value.

        Args:
            variable: any library's.
            value: what it held.
        """
        ...

    def detached(self, value: PyTree) -> Any:
        """Returns what a variable holds that is given a value: another array, if this one is known."""
        ...


# Told of every value that a variable loses, to other code or to a step.
WRITE_OBSERVERS: "WeakSet[WriteObserver]" = WeakSet()


def overwritten(variable: LibraryVariable, value: PyTree, new: PyTree) -> Any:
    """Tells all observers that a variable gets another value.

    Args:
        variable: any library's.
        value: what it held.
        new: what it is given.

    Returns:
        What it is to hold.
    """
    for observer in list(WRITE_OBSERVERS):
        observer.on_overwrite(variable, value)
        new = observer.detached(new)
    return new
