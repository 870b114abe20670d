"""How Linux schedules the threads on which XLA computes for the devices of a processor.

All devices of a process give work to one pool, with more threads than there are cores. By default a thread that gets work may
take the core from another one, in the middle of a loop that all of its device's work waits for. As batch work they do not, but
they do not take one from another program either: where such programs keep all cores busy, steps take longer. So the environment
has to ask for it, by `JAXTRIBUTE_BATCH_THREADS=1`.
"""

import contextlib
import os

from spmd.cluster.scheduling import schedule_as_batch

_THREADS = "/proc/self/task"
# The pool that XLA divides loops and products among.
_POOL = b"tf_XLAEigen"


def schedule_pool_as_batch() -> None:
    """Schedules the threads of XLA's pool as batch work if the environment asks for it, for as long as the process lives; on Linux."""
    if os.environ.get("JAXTRIBUTE_BATCH_THREADS") != "1":
        return
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
