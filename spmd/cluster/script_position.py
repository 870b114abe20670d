"""Where in its script a process is, for reports about one that makes no progress.

Reads the main thread's stack with `sys._current_frames`, which Python documents for debugging deadlocks.
"""

import os
import sys
import threading
from types import FrameType


def of_main_thread() -> str:
    """Finds the line of the script that the main thread is at, and what that line has called.

    Returns:
        The function and the line, as in `"CheckpointManager.save (train.py:31)"`, or the line alone; empty if
        no script runs.
    """
    main = threading.main_thread().ident or 0
    # Under no name: this function's own frame, which is among them, would keep all of them and what they hold.
    return of(sys._current_frames().get(main))  # pyright: ignore[reportPrivateUsage]


def of(frame: FrameType | None) -> str:
    """Does the same for any stack, given its innermost frame."""
    called = ""
    while frame is not None and frame.f_globals.get("__name__") != "__main__":
        if _is_informative(frame.f_code.co_qualname):
            called = frame.f_code.co_qualname
        frame = frame.f_back
    if frame is None:
        return ""
    line = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
    return f"{called} ({line})" if called else line


def _is_informative(name: str) -> bool:
    # Wrappers, lambdas and private names tell a reader nothing; `DistributedInput.__next__` does.
    return "<" not in name and not any(
        part.startswith("_") and not part.startswith("__") for part in name.split(".")
    )
