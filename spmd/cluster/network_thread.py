"""How Linux schedules the thread that sends and receives gradients between processors' processes.

A message wakes it, and by default it then takes the core of a thread that computes, or of the one that is
sending and holds the lock of the connection. It asks for that lock again and again until its time is up. Where
processes share cores, this took a third of each step.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Generator

from spmd import _jax_internals


@functools.cache
def schedule_network_thread_as_batch() -> None:
    """Has Linux wake the thread of gloo, once a backend starts it, without taking a core from another thread.

    It keeps its share of the processor's time. Where a core is free it starts as soon as before.
    """
    _jax_internals.start_gloo_within(_threads_as_batch)


@contextlib.contextmanager
def _threads_as_batch() -> Generator[None]:
    """Gives threads that are started within the policy SCHED_BATCH; they inherit it from this one."""
    if sys.platform != "linux" or os.sched_getscheduler(0) != os.SCHED_OTHER:
        yield
        return
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except OSError:  # some sandboxes forbid it
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
