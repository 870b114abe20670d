"""What is done when a script ends, but before its thread pools do: object stores and Orbax need these.

`atexit` runs too late for that. So this file touches an internal of Python, `threading._register_atexit`.
"""

import importlib
import os
import sys
import threading
from collections.abc import Callable

_registered = set[tuple[int, Callable[[], None]]]()


def before_threads_end(act: Callable[[], None]) -> None:
    """Has a function called when this process ends, before its thread pools do, once however often this is called for it.

    The last one that is registered is called first. Other threads may still run then. An error that it raises is printed. A
    process that is forked from this one does not call it, unless it registers it itself.

    Args:
        act: takes nothing.
    """
    process = os.getpid()
    if (process, act) in _registered:
        return
    _registered.add((process, act))

    def run() -> None:
        if os.getpid() != process:
            return
        try:
            act()
        except BaseException as error:  # what else is to be done at the end must be
            sys.excepthook(type(error), error, error.__traceback__)

    # That module registers the end of thread pools; what is registered later runs before.
    importlib.import_module("concurrent.futures.thread")
    threading._register_atexit(run)  # type: ignore[attr-defined]
