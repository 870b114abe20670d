"""A context variable that has a value for a `with` block."""

import contextlib
import contextvars
from collections.abc import Generator
from typing import TypeVar

_T = TypeVar("_T")


@contextlib.contextmanager
def assigned(variable: contextvars.ContextVar[_T], value: _T) -> Generator[_T]:
    """Gives a context variable a value, and afterwards its former one."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)
