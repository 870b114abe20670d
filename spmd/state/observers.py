"""Observers of writes, which know variables by the arrays that they hold."""

from typing import Any, Protocol
from weakref import WeakSet

from spmd.typing import LibraryVariable, PyTree


class WriteObserver(Protocol):
    """Knows variables by the arrays that they hold."""

    def on_overwrite(self, variable: LibraryVariable, value: PyTree) -> None:
        """Called before a variable of any library loses its value."""
        ...

    def detached(self, value: PyTree) -> Any:
        """Returns what a variable that is given a value is to hold: another array, if this one is known."""
        ...


# Told of every value that a variable loses, to other code or to a step.
WRITE_OBSERVERS: "WeakSet[WriteObserver]" = WeakSet()


def overwritten(variable: LibraryVariable, value: PyTree, new: PyTree) -> Any:
    """Tells all observers that a variable gets a new value, and returns what it is to hold."""
    for observer in list(WRITE_OBSERVERS):
        observer.on_overwrite(variable, value)
        new = observer.detached(new)
    return new
