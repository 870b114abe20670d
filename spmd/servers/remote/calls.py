"""Calls to Ray from several threads, which Ray does not survive while a program leaves it: it ends the process.

So do references that are dropped meanwhile. Threads stand still, where they call Ray, until the program has left.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from spmd.servers.remote.errors import ServerLostError

_T = TypeVar("_T")
# In which a thread that is between two calls gets to the next one.
_BETWEEN_SECONDS = 0.2
_changed = threading.Condition(threading.RLock())
_inside = 0
# The thread that leaves Ray.
_leaver: int | None = None


def call(function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
    """Calls a function of Ray's; `kept_out` waits for it, so it should not take long.

    Raises:
        ServerLostError: the program has just left the cluster.
    """
    global _inside
    with _changed:
        if _leaver is not None:
            _stand_still()
            raise ServerLostError("This program has left the cluster of its parameter servers.")
        _inside += 1
    try:
        return function(*args, **kwargs)
    finally:
        with _changed:
            _inside -= 1
            _changed.notify_all()
            _stand_still()


@contextlib.contextmanager
def kept_out(seconds: float) -> Generator[None]:
    """Keeps other threads out of Ray for a `with` block.

    Args:
        seconds: how long to wait for those that are in a call.
    """
    global _leaver
    with _changed:
        _leaver = threading.get_ident()
        _changed.wait_for(lambda: not _inside, seconds)
    time.sleep(_BETWEEN_SECONDS)
    try:
        yield
    finally:
        with _changed:
            _leaver = None
            _changed.notify_all()


def _stand_still() -> None:
    """Waits until no thread leaves Ray; not the one that does, whose collector may end a cluster meanwhile."""
    _changed.wait_for(lambda: _leaver in (None, threading.get_ident()))
