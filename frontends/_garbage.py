"""Python's garbage collector, and what imports of large libraries leave behind."""

import contextlib
import gc
from collections.abc import Generator

# Objects that the import of a large library makes, at least; and how many of its objects there are for each other.
_LARGE, _MOST = 50_000, 2


@contextlib.contextmanager
def importing() -> Generator[None]:
    """Makes a block that imports a large library, among whose objects Python need not look for garbage.

    An import makes much that stays, JAX's most of all. Looking through all of it again and again takes a seventh of
    the time of the import, and another tenth of a second when it has ended. So the collector waits for the end, and then
    leaves alone what there is, if that is what the import has made, for the most part: other objects may become garbage.

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
        made = len(gc.get_objects()) - before
        if was_enabled and made > max(_LARGE, _MOST * before):
            gc.freeze()
    finally:
        if was_enabled:
            gc.enable()
