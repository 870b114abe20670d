"""Generators with context variables of their own."""

import contextvars
from collections.abc import Generator
from typing import TypeVar

_T = TypeVar("_T")
_END = object()


def in_own_context(generator: Generator[_T]) -> Generator[_T]:
    """Iterates over a generator that sets context variables between what it yields, such as the strategy in force.

    The caller, on whichever thread, does not see them; and it may stop whenever it wants to.
    """
    context = contextvars.copy_context()
    try:
        while True:
            found = context.run(next, generator, _END)
            if found is _END:
                return
            yield found  # type: ignore[misc]
    finally:
        context.run(generator.close)
