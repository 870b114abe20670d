"""How a process of a cluster ends itself: after an uncaught error, or on SIGTERM.

The watchdog tells the other processes, and the exit code says whether a restart may help.
"""

import inspect
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, NoReturn

import jax

from spmd.cluster import error_file, report
from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.cluster.sigterm import Sigterm
from spmd.cluster.watchdog import Watchdog
from spmd.errors import ClusterStartError, ClusterWaitError

_MAX_CHARACTERS = 2000
_OF_ANOTHER_SECONDS = 5.0  # how long the watchdog may take to see that another process has died
# How long a process that is told to end may take for what is left to do once all scripts have ended. Kubernetes, Slurm and
# `jaxtribute launch` kill it after 30 seconds; the last ten are for the report.
_LEAVE_SECONDS = 20.0
_FLUSH_SECONDS = 5.0  # how long a stuck reader of the output may delay the exit
# What a collective or the coordination service reports when a peer has died, after XLA's status. Only the first line
# counts: an error of a Python function that a step calls follows in later ones.
_OF_PEERS = re.compile(r"UNAVAILABLE: |[A-Z_]+: .*(Gloo |NCCL operation|[Cc]oordination)")
_OF_GLOO = re.compile(r"[A-Z_]+: Gloo ")  # which JAX raises as a ValueError

_watchdog: Watchdog | None = None
# The status that the script passed to `sys.exit`, the outermost frame, and where in it that was. A frame that has gone on
# since has caught the exit, or cleaned up after it: what runs when a script ends cannot tell which.
_exited: tuple[object, FrameType, int] | None = None


def take_over() -> None:
    """Installs handlers for uncaught errors, for `sys.exit`, and for SIGTERM unless the script handles it."""
    _note_exits()
    before = sys.excepthook

    def report_uncaught(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        patience = _OF_ANOTHER_SECONDS
        if _watchdog is not None and any(map(_is_of_peers, _with_causes(error))):
            # If another process has died, the watchdog says so and ends this one: that is all there is to say.
            # Whoever kills this one meanwhile finds the error in the file.
            error_file.note_error(error)
            _watchdog.join(patience)
            patience = 0.0
        before(kind, error, traceback)
        if isinstance(error, ClusterStartError) and error.retryable:
            _exit(RETRYABLE_EXIT_CODE)
        _report(error, patience, shown=True)

    sys.excepthook = report_uncaught
    on_main = threading.current_thread() is threading.main_thread()
    if on_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        # Process 1 of a container ignores SIGTERM unless there is a handler.
        Sigterm(_end, ends=True)


def _note_exits() -> None:
    """Has `sys.exit` note its status: what runs when a script ends is not told of it."""
    before = sys.exit

    def exit_and_note(status: Any = None, /) -> NoReturn:
        global _exited
        if threading.current_thread() is threading.main_thread():
            frame = inspect.currentframe()
            while frame is not None and frame.f_back is not None:
                frame = frame.f_back
            _exited = None if frame is None else (status, frame, frame.f_lasti)
        before(status)

    sys.exit = exit_and_note


def report_exit() -> None:
    """Ends this process, if its script ended by `sys.exit` with a failure, as after an uncaught error: with its own code.

    Else the others would wait for it, and all would exit with codes of theirs. Does nothing outside a cluster, or if the
    script has caught the exit.
    """
    if _watchdog is None or _exited is None:
        return
    status, frame, place = _exited
    if frame.f_lasti != place:
        return
    code = status & 0xFF if isinstance(status, int) else int(status is not None)
    if code:
        _watchdog.fail(f"ended by sys.exit({status!r:.200}).", code, 0.0, shown=True)


def report_to(watchdog: Watchdog | None) -> None:
    """Sets the watchdog that failures are reported to; None for none."""
    global _watchdog
    _watchdog = watchdog


def report_failure(error: BaseException) -> None:
    """Tells the other processes that this one has failed, and ends it; does nothing outside a cluster.

    An error from JAX may follow from another process's death: the watchdog gets five seconds to find out who died. If it
    does, or a collective blames its peers, the exit code is the retryable one. `initialize` installs this for uncaught
    errors; call it where a script catches them.

    Args:
        error: the failure.
    """
    if _watchdog is not None:
        error_file.note_error(error)
        _report(error, _OF_ANOTHER_SECONDS, shown=False)


def _report(error: BaseException, patience: float, *, shown: bool) -> None:
    if _watchdog is None:
        return
    chain = list(_with_causes(error))
    of_peers = any(map(_is_of_peers, chain))
    may_be = of_peers or any(isinstance(one, jax.errors.JaxRuntimeError) for one in chain)
    code = RETRYABLE_EXIT_CODE if of_peers else 130 if isinstance(error, KeyboardInterrupt) else 1
    text = "".join(traceback.format_exception_only(error)).strip()[:_MAX_CHARACTERS]
    what = f"failed: {text}\nThe whole traceback is in its own output."
    _watchdog.fail(what, code, patience if may_be else 0.0, shown=shown)


def _end() -> None:
    if _watchdog is not None:
        _watchdog.fail("was told to end, by SIGTERM.", RETRYABLE_EXIT_CODE, 0.0)
        # That returns only if the scripts of all tasks have ended, and this process is about to end by itself, with its own
        # code. Started again, it would wait for tasks that do not come any more.
        time.sleep(_LEAVE_SECONDS)
        # What is cut off may be a save: this is no success.
        text = (
            f"SIGTERM: what this task still does at its end takes more than {_LEAVE_SECONDS:g} s, and is cut off. It exits "
            f"with code {RETRYABLE_EXIT_CODE} (retryable)."
        )
        error_file.note_cause(text)
        report.write([f"{text} Its Python stacks:"], stacks=True)
    _exit(RETRYABLE_EXIT_CODE)


def _exit(code: int) -> None:
    def flush() -> None:
        sys.stdout.flush()
        sys.stderr.flush()

    report.within(_FLUSH_SECONDS, flush)
    os._exit(code)


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__  # a failed step raises an error of its own about its state


def _is_of_peers(error: BaseException) -> bool:
    if isinstance(error, jax.errors.JaxRuntimeError):
        return bool(_OF_PEERS.match(str(error)))
    if isinstance(error, ValueError):
        return bool(_OF_GLOO.match(str(error)))
    return isinstance(error, ClusterWaitError)
