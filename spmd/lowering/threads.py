"""How Linux schedules the threads on which XLA computes for the devices of a processor.

Each device of a program gives work to one pool of threads, which are more than there are cores. By default a thread
that gets work takes the core of another one, in the midst of a loop that its whole device waits for.
"""

import contextlib
import os
import sys
from pathlib import Path

_THREADS = Path("/proc/self/task")
# XLA's pools are of TensorFlow's library, which names its threads so.
_PREFIX = "tf_"


def schedule_pool_as_batch() -> None:
    """Has Linux wake XLA's threads without taking a core from another thread: as `SCHED_BATCH`.

    They keep their share of the processor's time, and start at once where a core is free. Does nothing on other systems.
    """
    if sys.platform != "linux":
        return
    for thread in _THREADS.iterdir():
        # A thread may end meanwhile; some sandboxes forbid it.
        with contextlib.suppress(OSError):
            if (thread / "comm").read_text().startswith(_PREFIX):
                _schedule_as_batch(int(thread.name))


def _schedule_as_batch(thread: int) -> None:
    if os.sched_getscheduler(thread) == os.SCHED_OTHER:
        os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
