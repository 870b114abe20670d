"""Calls to Ray from several threads, which Ray does not survive while a program leaves it: it ends the process."""

import contextlib
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from spmd.servers.remote.errors import ServerLostError

_T = TypeVar("_T")
_changed = threading.Condition()
_inside = 0
_leaving = False


def call(function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
    """Calls a function of Ray's; `kept_out` waits for it, so it should not take long.

    Raises:
        ServerLostError: the program is just leaving the cluster.
    """
    global _inside
    with _changed:
        if _leaving:
            raise ServerLostError("This program has left the cluster of its parameter servers.")
        _inside += 1
    try:
        return function(*args, **kwargs)
    finally:
        with _changed:
            _inside -= 1
            _changed.notify_all()


@contextlib.contextmanager
def kept_out(seconds: float) -> Generator[None]:
    """Keeps other threads out of Ray for a `with` block.

    Args:
        seconds: how long to wait for those that are in a call.
    """
    global _leaving
    with _changed:
        _leaving = True
        _changed.wait_for(lambda: not _inside, seconds)
    try:
        yield
    finally:
        with _changed:
            _leaving = False
