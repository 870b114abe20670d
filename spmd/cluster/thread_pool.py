"""How Linux schedules the threads on which XLA computes for the devices of a processor.

All devices of a process give work to one pool, with more threads than there are cores. By default a thread that gets work may
take the core from another one, in the middle of a loop that all of its device's work waits for.
"""

import contextlib
import os

from spmd.cluster.scheduling import schedule_as_batch

_THREADS = "/proc/self/task"
# The pool that XLA divides loops and products among.
_POOL = b"tf_XLAEigen"


def schedule_pool_as_batch() -> None:
    """Schedules the threads of XLA's pool as batch work, for as long as the process lives; on Linux."""
    with contextlib.suppress(OSError):  # no such folder
        for thread in os.listdir(_THREADS):
            if _name(thread) == _POOL:
                schedule_as_batch(int(thread))


def _name(thread: str) -> bytes | None:
    try:
        with open(f"{_THREADS}/{thread}/comm", "rb") as file:
            return file.read().rstrip()
    except OSError:  # it has ended
        return None
