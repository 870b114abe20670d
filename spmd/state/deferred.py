"""Deferred values: a checkpoint may be restored before the variables that its values belong to exist.

Whoever has such values defers a function. It runs before new variables are used: when Keras variables are
read or written between steps, and when a step looks for its state.
"""

from collections.abc import Callable

_PENDING: dict[int, Callable[[], None]] = {}
_MADE = [0]
_APPLIED = [0]


def note_variable_made() -> None:
    """Records that a variable was made, so that the next `apply_pending` runs what is deferred."""
    _MADE[0] += 1


def defer(key: int, apply: Callable[[], None]) -> None:
    """Runs a function each time variables were made, until it is dropped by its key."""
    _PENDING[key] = apply


def drop_deferred(key: int) -> None:
    """Drops the function that was deferred with this key."""
    _PENDING.pop(key, None)


def apply_pending() -> None:
    """Runs all deferred functions if variables were made since the last time; they may use variables themselves."""
    if _PENDING and _MADE[0] != _APPLIED[0]:
        _APPLIED[0] = _MADE[0]
        for apply in list(_PENDING.values()):
            apply()
