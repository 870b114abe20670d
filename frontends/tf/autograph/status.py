"""Whether functions are converted: marks on functions, and blocks in which none is."""

import contextvars
import inspect
from contextlib import AbstractContextManager
from typing import TypeVar

from spmd.assigned import assigned

F = TypeVar("F")

_ENABLED: contextvars.ContextVar[bool] = contextvars.ContextVar("autograph", default=True)


def converting(enabled: bool) -> AbstractContextManager[bool]:
    """Converts the functions that are called in a block, or leaves them as they are."""
    return assigned(_ENABLED, enabled)


def is_enabled() -> bool:
    """Tells whether functions that are called are converted."""
    return _ENABLED.get()


def mark(function: F) -> F:
    """Marks a function as converted already, or as not to be converted."""
    target = function.__func__ if inspect.ismethod(function) else function
    vars(target)["ag_converted"] = True
    return function


def is_marked(function: object) -> bool:
    """Tells whether `mark` got a function."""
    return bool(getattr(function, "ag_converted", False))
