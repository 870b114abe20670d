"""What a process does about its own end; tests/multiprocess/cluster ends real ones."""

import signal
import sys

import pytest
from jax.errors import JaxRuntimeError

from spmd.cluster import failures, sigterm
from spmd.errors import ClusterWaitError, StateError


class _Watchdog:
    """Writes down what it is told, and ends nothing."""

    def __init__(self):
        self.told = []
        self.waited = []

    def join(self, seconds):
        self.waited.append(seconds)

    def fail(self, text, exit_code, seconds, *, shown=False):
        self.told.append((text, exit_code, seconds, shown))


@pytest.fixture
def told():
    watchdog = _Watchdog()
    failures.report_to(watchdog)
    yield watchdog.told
    failures.report_to(None)


def test_failures_are_reported_in_clusters_only():
    failures.report_failure(ValueError("no"))


@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (KeyError("gloo"), (1, 0.0)),
        (StateError("the value of w is lost"), (1, 0.0)),
        (ValueError("the residual connection expects 64 channels"), (1, 0.0)),
        (RuntimeError("the data service is unavailable: connection closed by peer"), (1, 0.0)),
        (TimeoutError("the data did not come"), (1, 0.0)),
        (KeyboardInterrupt(), (130, 0.0)),
        (JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory"), (1, 5.0)),
        (JaxRuntimeError("INTERNAL: CpuCallback error\nValueError: NCCL operation"), (1, 5.0)),
        # As JAX raises them when a peer is killed.
        (ValueError("UNKNOWN: Gloo all-reduce failed: Connection reset by peer"), (143, 5.0)),
        (JaxRuntimeError("INTERNAL: NCCL operation ncclAllReduce failed"), (143, 5.0)),
        (JaxRuntimeError("UNAVAILABLE: Socket closed"), (143, 5.0)),
        (JaxRuntimeError("ABORTED: the coordination service has stopped"), (143, 5.0)),
        (ClusterWaitError("waited 600 s", missing=["worker 1"]), (143, 5.0)),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_an_error_that_another_process_caused_asks_for_a_restart(told, error, reported, wrapped):
    if wrapped and not isinstance(error, KeyboardInterrupt):
        wrapper = StateError("the step failed, and the value of w is lost")
        wrapper.__cause__ = error
        error = wrapper
    failures.report_failure(error)
    assert [one[1:] for one in told] == [(*reported, False)]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no data"), "failed: ValueError: no data"),
        (StateError("w is lost"), "failed: spmd.errors.StateError: w is lost"),
        (KeyboardInterrupt(), "failed: KeyboardInterrupt"),
    ],
)
def test_a_report_quotes_the_error(told, error, text):
    failures.report_failure(error)
    assert told[0][0] == f"{text}\nThe whole traceback is in its own output."


@pytest.fixture
def printed(told, monkeypatch):
    """What is printed of uncaught errors: each, what was told before, and how long the watchdog was waited for."""
    found = []
    watchdog = failures._watchdog
    monkeypatch.setattr(
        sys,
        "excepthook",
        lambda *error: found.append((error, list(told), list(watchdog.waited))),
    )
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    failures.take_over()
    sigterm._taken[-1].close()
    signal.signal(signal.SIGTERM, before)
    return found


def test_an_error_that_nobody_catches_is_printed_first(told, printed):
    error = ValueError("no")
    sys.excepthook(ValueError, error, None)
    assert printed == [((ValueError, error, None), [], [])]
    assert told[0][1:] == (1, 0.0, True)


def test_an_error_of_peers_is_printed_if_no_report_ends_the_process_before(told, printed):
    error = ValueError("UNKNOWN: Gloo all-reduce failed: Connection reset by peer")
    sys.excepthook(ValueError, error, None)
    assert printed == [((ValueError, error, None), [], [5.0])]
    assert told[0][1:] == (143, 5.0, True)


def test_sigterm_is_left_to_a_script_that_handles_it(monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    failures.take_over()
    assert signal.signal(signal.SIGTERM, before) == signal.SIG_IGN


def test_a_start_that_may_help_again_asks_for_a_restart(run_python):
    run_python(
        "-c",
        "from spmd.cluster import failures\n"
        "from spmd.errors import ClusterStartError\n"
        "failures.take_over()\n"
        "raise ClusterStartError('nobody came', retryable=True)\n",
        status=143,
    )


SCRIPT = """
import atexit, sys, threading
from spmd.cluster import failures

class Watchdog:
    def fail(self, text, code, seconds, *, shown):
        print(text, code)

failures.report_to(Watchdog())
failures._note_exits()
atexit.register(failures.report_exit)

def caught():
    try:
        sys.exit(3)
    except SystemExit:
        pass

def deep(status):
    sys.exit(status)

"""


@pytest.mark.parametrize(
    ("end", "status", "reported"),
    [
        ("deep(3)", 3, "ended by sys.exit(3). 3"),
        ("deep('no data')", 1, "ended by sys.exit('no data'). 1"),
        ("sys.exit(-1)", 255, "ended by sys.exit(-1). 255"),
        ("sys.exit(143)", 143, "ended by sys.exit(143). 143"),
        ("sys.exit()", 0, ""),
        ("sys.exit(0)", 0, ""),
        ("caught()", 0, ""),
        ("caught(); x = 1", 0, ""),
        ("one = threading.Thread(target=sys.exit, args=[3]); one.start(); one.join()", 0, ""),
    ],
)
def test_a_script_that_exits_by_itself_keeps_its_code(run_python, end, status, reported):
    ended = run_python("-c", SCRIPT + end, status=status)
    assert ended.stdout.strip() == reported
