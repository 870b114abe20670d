"""How Linux schedules the thread that sends and receives gradients between the processes of processors.

When a message arrives, Linux wakes the thread, and by default it may take the core from a thread that computes, or from the one
that is sending and holds the lock of the connection. Then it asks for that lock again and again until its time is up.
"""

import contextlib
import functools
from collections.abc import Generator

from spmd import _jax_internals
from spmd.cluster.scheduling import schedule_as_batch, schedule_as_usual


@functools.cache
def schedule_network_thread_as_batch() -> None:
    """Has gloo's thread scheduled as batch work, once a backend starts it."""
    _jax_internals.start_gloo_within(_threads_as_batch)


@contextlib.contextmanager
def _threads_as_batch() -> Generator[None]:
    """Schedules threads that are started within as batch work: they inherit it from this one."""
    changed = schedule_as_batch()
    try:
        yield
    finally:
        if changed:
            schedule_as_usual()
