"""Python's garbage collector, and what the import of a front end leaves behind."""

import contextlib
import gc
from collections.abc import Generator

# With more objects before the import, a script has objects of its own, some of which may become garbage.
_MOST_BEFORE = 50_000


@contextlib.contextmanager
def importing() -> Generator[None]:
    """Holds the garbage collector back while a front end is imported, and afterwards has it ignore what the import made.

    An import makes much that stays, JAX's most of all. Looking through all of it again and again takes a seventh of
    the time of the import, and some of that once more when it has ended. `gc.unfreeze()` undoes the second.

    Examples:
        >>> import gc
        >>> with importing():
        ...     gc.isenabled()
        False
        >>> gc.isenabled()
        True

    Source: `gc.freeze`.
    """
    # As `spmd.step.garbage.held_back`, whose import would import JAX before this could begin.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        before = len(gc.get_objects())
        yield
        if was_enabled and before <= _MOST_BEFORE:
            gc.freeze()
    finally:
        if was_enabled:
            gc.enable()
