"""Processes that call map functions, so that these run at the same time although Python runs one thread at a time.

A process costs seconds to start and memory, and what it is sent and returns takes time. So functions are first called here, on
threads; only if that has taken long, and threads have waited for each other, processes are started, and take over once they are
ready. The order of elements stays, and so does the position: threads still ask for elements, and wait for what a process returns.
"""

import contextlib
import logging
import os
import queue
import re
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax

from spmd.input.pipeline.element import Batch, Element
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.messages import EndedError, can_share, receive, send

# How long threads call functions first, all together: to start a process takes seconds of a core.
_TRIAL_SECONDS = 20.0
# To send a call that computes for less costs as much.
_MIN_CALL_SECONDS = 5e-3
# Threads that compute for less than this part of their time wait for each other.
_MAX_COMPUTING = 0.8
# Each takes some 300 MB.
_MAX_PROCESSES = 16
# Functions that a process keeps; a program may make one in each epoch.
_MAX_KNOWN = 64
# How many processes are started at once, without a look at what calls take.
_VARIABLE = "JAXTRIBUTE_MAP_PROCESSES"

_MODULE = "spmd.input.pipeline.worker_process"

Kind = Literal["one", "many"]

_LOGGER = logging.getLogger(__name__)


class Offloader:
    """Decides where the functions of a pipeline's step are called. May be used from several threads."""

    def __init__(self) -> None:
        """Starts with calls in this process.

        Raises:
            ValueError: the environment asks for something else than a number of processes.
        """
        self._lock = threading.Lock()
        self._wall = self._computing = 0.0
        self._calls = 0
        self._workers: Workers | None = None
        self._asked = _number_asked_for()
        self._never = self._asked == 0 or not can_share()

    def __reduce__(self) -> Any:
        return Offloader, ()

    def call(
        self,
        functions: Sequence[MapFunction],
        kind: Kind,
        given: Any,
        full: int,
        count: int,
        here: Callable[[], Element | Batch],
    ) -> Element | Batch:
        """Returns the functions' result.

        Args:
            functions: In the order of their calls.
            kind: Whether `given` is an element or a list of elements.
            given: What to call them with.
            full: Of a list, the number of elements that there usually are.
            count: How many processes may be started.
            here: Calls them in this process.
        """
        workers = None if self._never else self._started(functions, count)
        if workers is None or not workers.are_ready():
            return self._timed(here)
        reason = "what it reads from outside has changed"
        try:
            if all(function.sending and function.sending.is_current() for function in functions):
                return workers.call(functions, kind, given, full)
        except (FailedError, EndedError) as error:
            reason = str(error) or "a process ended"
        # An exception that the function raises, it raises here as well: it changes nothing, and may be called twice.
        result = here()
        with self._lock:
            self._never, self._workers = True, None
        _LOGGER.warning("Processes no longer call a map function: %s", reason)
        return result

    def _timed(self, here: Callable[[], Element | Batch]) -> Element | Batch:
        wall, computing = time.perf_counter(), time.thread_time()
        result = here()
        with self._lock:
            self._wall += time.perf_counter() - wall
            self._computing += time.thread_time() - computing
            self._calls += 1
        return result

    def _started(self, functions: Sequence[MapFunction], count: int) -> "Workers | None":
        if self._workers is None and self._is_worth_it():
            with self._lock:
                if self._never:  # by another thread, meanwhile
                    return None
                if self._workers is None and all(one.sending for one in functions):
                    with contextlib.suppress(OSError):  # such as too many processes
                        self._workers = shared_workers(self._asked or min(count, _MAX_PROCESSES))
                self._never = self._workers is None
        return self._workers

    def _is_worth_it(self) -> bool:
        if self._asked:
            return True
        with self._lock:
            return (
                self._wall > _TRIAL_SECONDS
                and self._computing > _MIN_CALL_SECONDS * self._calls
                and self._computing < _MAX_COMPUTING * self._wall
            )


class FailedError(Exception):
    """A process did not return a result: something cannot be sent, or the function raised an exception."""


class Workers:
    """Processes, each of which does one call at a time. They end when this object is collected, and with this process."""

    def __init__(self, count: int) -> None:
        """Starts processes, without waiting for them."""
        self.count = count  # a call of more threads waits for another one's
        self._parent = os.getpid()
        self._workers: list[_Worker] = []
        self._finalizer = weakref.finalize(self, _end, self._workers, self._parent)
        try:
            for _ in range(count):
                self._workers.append(_Worker())
        except BaseException:
            self.close()
            raise
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._ready = self.is_broken = False
        self._lock = threading.Lock()

    def are_ready(self) -> bool:
        """Tells whether all processes have made their imports, and may be called from this one."""
        if not self.are_own():
            return False
        if not self._ready:
            with self._lock:
                self._ready = all(worker.is_ready() for worker in self._workers)
        return self._ready

    def are_own(self) -> bool:
        """Tells whether this process has started them, and not one from which it was forked."""
        return self._parent == os.getpid()

    def call(
        self, functions: Sequence[MapFunction], kind: Kind, given: Any, full: int
    ) -> Element | Batch:
        """Has a process call functions, and waits for the result.

        Raises:
            FailedError: there is no result.
            EndedError: the process has ended.
        """
        worker = self._free.get()
        try:
            return worker.call(functions, kind, given, full)
        except FailedError:
            raise
        except BaseException:
            # An answer that still comes would be taken for that to the next call.
            self.is_broken = True
            worker.end()
            raise
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Ends the processes; calling it again does nothing."""
        self._finalizer()


class _Worker:
    """One process."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._known: set[int] = set()
        self._is_ready = False
        number = theirs.fileno()
        try:
            with theirs:
                self.process = subprocess.Popen(
                    # What lies in the current folder must not be imported in place of a module.
                    [sys.executable, "-P", "-m", _MODULE, str(number)],
                    pass_fds=[number],
                    stdin=subprocess.DEVNULL,
                    env=_environment(),
                    # Ctrl-C is for this process, which ends the others.
                    start_new_session=True,
                )
        except BaseException:
            self._socket.close()
            raise

    def is_ready(self) -> bool:
        if not self._is_ready and _has_arrived(self._socket):
            with contextlib.suppress(EndedError):  # the next call tells
                receive(self._socket)
            self._is_ready = True
        return self._is_ready

    def call(self, functions: Sequence[MapFunction], kind: Kind, given: Any, full: int) -> Any:
        if self._socket.fileno() < 0:
            raise EndedError
        numbers = [function.number for function in functions]
        forgets = len(self._known.union(numbers)) > _MAX_KNOWN
        known: set[int] = set() if forgets else self._known
        new: dict[int, bytes] = {}
        draws: list[Any] = []
        try:
            for function in functions:
                assert function.sending
                if function.number not in known:
                    new[function.number] = function.sending.pickled()
                draws.append(function.sending.draws())
            x64 = bool(jax.enable_x64.value)
            send(self._socket, (forgets, new, numbers, draws, kind, given, full, x64))
        except EndedError:
            raise
        except Exception as error:  # of pickling: it may be any
            raise FailedError(repr(error)) from error
        self._known = known.union(new)
        try:
            has_result, value = receive(self._socket)
        except EndedError:
            raise
        except Exception as error:  # no room for its memory, or of unpickling: it may be any
            raise EndedError(repr(error)) from error
        if not has_result:
            raise FailedError(value)
        return value

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._socket.close()


def _end(workers: Sequence[_Worker], parent: int) -> None:
    if os.getpid() != parent:  # forked
        return
    for worker in workers:
        worker.end()


_lock = threading.Lock()
_shared: "weakref.ref[Workers] | None" = None


def shared_workers(count: int) -> Workers:
    """Returns the processes that all pipelines share, which the first one starts, and the last one ends."""
    global _shared
    with _lock:
        found = None if _shared is None else _shared()
        if found is None or found.is_broken or found.count < count or not found.are_own():
            found = Workers(count)
            _shared = weakref.ref(found)
        return found


def _has_arrived(source: socket.socket) -> bool:
    """Tells whether something has arrived; unlike `select.select`, with any number of open files."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    return bool(poll.poll(0))


def _number_asked_for() -> int | None:
    """Reads how many processes to start; None if the environment does not say."""
    text = os.environ.get(_VARIABLE)
    if not text:
        return None
    if not re.fullmatch("[0-9]{1,4}", text):
        raise ValueError(
            f"Expected a number of processes that call map functions, or 0 for none, but {_VARIABLE} is {ascii(text)[:80]}. "
            f"Write, for example, {_VARIABLE}=4."
        )
    return int(text)


def _environment() -> dict[str, str]:
    # No accelerators: a process would take memory of theirs.
    return {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path))),
        _VARIABLE: "0",
    }
