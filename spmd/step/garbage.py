"""Python's garbage collector, held back while a program is traced and lowered, or a large library imported.

Tracing a large model makes hundreds of thousands of objects, of which next to none are garbage in cycles; others
are freed without the collector. It would look through all of them again and again, which takes a fifth of the
time.
"""

import contextlib
import gc
import threading
from collections.abc import Generator

# Reentrant: the collector may run at once when it goes on, and a finalizer may trace.
_lock = threading.RLock()
_holders = 0
_was_enabled = False


@contextlib.contextmanager
def held_back() -> Generator[None]:
    """Makes a block in which Python does not look for garbage by itself; `gc.collect()` still does.

    Blocks may lie in each other, and run on several threads at a time: the collector goes on after the last one,
    if it ran before the first.

    Examples:
        >>> import gc
        >>> with held_back():
        ...     gc.isenabled()
        False
        >>> gc.isenabled()
        True

    Source: `gc.disable`.
    """
    global _holders, _was_enabled
    with _lock:
        if _holders == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0 and _was_enabled:
                gc.enable()
