"""Values that wait for variables that do not exist yet: a checkpoint may be restored before a model is built.

Whoever has such values adds a function that is run before new variables are used: when Keras variables are read or
written between steps, and when a step looks for its state.
"""

from collections.abc import Callable

_WAITING: dict[int, Callable[[], None]] = {}
_MADE = [0]
_SETTLED = [0]


def note_variable() -> None:
    """Hears that a variable was made."""
    _MADE[0] += 1


def add_waiting(key: int, settle: Callable[[], None]) -> None:
    """Has a function run before new variables are used, until it is taken out.

    Args:
        key: by which it is taken out.
        settle: the function.
    """
    _WAITING[key] = settle


def remove_waiting(key: int) -> None:
    """Takes a function out again.

    Args:
        key: it was added with.
    """
    _WAITING.pop(key, None)


def settle() -> None:
    """Runs all functions if variables were made since; they may use variables themselves."""
    if _WAITING and _MADE[0] != _SETTLED[0]:
        _SETTLED[0] = _MADE[0]
        for waiting in list(_WAITING.values()):
            waiting()
