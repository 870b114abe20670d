"""How Linux schedules threads: as batch work, which wakes without taking a core from another thread.

A thread keeps its share of the processor's time, and starts at once where a core is free. Linux calls the
policy `SCHED_BATCH`. Other systems have no such policy, and some sandboxes refuse it. `JAXTRIBUTE_BATCH_THREADS=0` in the
environment leaves all threads as they are.
"""

import os
import sys


def schedule_as_batch(thread: int = 0) -> bool:
    """Schedules a thread of this process as batch work, and what it will start; where that cannot be, does nothing.

    Args:
        thread: its number in the system; 0 is the thread that calls.

    Returns:
        Whether the policy was the usual one, and is changed now.

    Examples:
        >>> changed = schedule_as_batch()
        >>> schedule_as_batch()  # it is already, or cannot be
        False
        >>> if changed:
        ...     schedule_as_usual()

    Source: `sched_setscheduler(2)`.
    """
    if sys.platform != "linux" or os.environ.get("JAXTRIBUTE_BATCH_THREADS") == "0":
        return False
    try:
        if os.sched_getscheduler(thread) != os.SCHED_OTHER:
            return False
        os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
    except OSError:  # the thread has ended, or a sandbox refuses
        return False
    return True


def schedule_as_usual() -> None:
    """Schedules the thread that calls as Linux does by default, after `schedule_as_batch` changed that.

    Examples:
        >>> if schedule_as_batch():
        ...     schedule_as_usual()

    Source: `sched_setscheduler(2)`.
    """
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
