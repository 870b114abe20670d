"""Where in its script a process is: what the others say of one that does not get on.

It reads the stack of the main thread through `sys._current_frames`, which Python documents for such uses.
"""

import os
import sys
import threading
from types import FrameType


def of_main_thread() -> str:
    """Tells which line of the script the main thread has come to, and what that line has called.

    Returns:
        The line and the function, as in `"CheckpointManager.save (train.py:31)"`, or the line alone; empty if
        no script runs.
    """
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
    return of(frames.get(threading.main_thread().ident or 0))


def of(frame: FrameType | None) -> str:
    """Tells the same of a stack.

    Args:
        frame: its innermost frame.

    Returns:
        See `of_main_thread`.
    """
    called = ""
    while frame is not None and frame.f_globals.get("__name__") != "__main__":
        if _is_telling(frame.f_code.co_qualname):
            called = frame.f_code.co_qualname
        frame = frame.f_back
    if frame is None:
        return ""
    line = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
    return f"{called} ({line})" if called else line


def _is_telling(name: str) -> bool:
    # Wrappers, lambdas and what is private say nothing to a reader; `DistributedInput.__next__` does.
    return "<" not in name and not any(
        part.startswith("_") and not part.startswith("__") for part in name.split(".")
    )
