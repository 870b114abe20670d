"""What a process does about its own end; tests/multiprocess/cluster ends real ones."""

import signal
import sys

import pytest
from jax.errors import JaxRuntimeError

from spmd.cluster import error_file, failures, sigterm
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
    assert told[0][1:] == (143, 0.0, True)  # the five seconds are over


def test_an_error_that_may_be_of_peers_waits_for_news_once(told, printed):
    sys.excepthook(JaxRuntimeError, JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory"), None)
    assert [waited for *_, waited in printed] == [[]]
    assert told[0][1:] == (1, 5.0, True)


@pytest.mark.parametrize("is_caught", [False, True])
def test_an_error_that_is_held_back_is_in_the_file_meanwhile(
    told, printed, monkeypatch, tmp_path, is_caught
):
    """Whoever kills the process in these seconds leaves no other trace of it."""
    path = tmp_path / "error"
    monkeypatch.setattr(error_file, "_file", error_file.ErrorFile(path))
    held = []

    def hold(*_, **__):
        held.append(path.read_text())

    monkeypatch.setattr(failures._watchdog, "join", hold)
    monkeypatch.setattr(failures._watchdog, "fail", hold)
    error = ValueError("UNKNOWN: Gloo all-reduce failed: Connection reset by peer")
    if is_caught:
        failures.report_failure(error)
    else:
        sys.excepthook(ValueError, error, None)
    assert held[0] == f"ValueError: {error}\n"


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


LAST_PHASE = """
import atexit, os, signal, sys, time
from pathlib import Path
from spmd.cluster import error_file, failures

class Watchdog:
    def fail(self, *_):
        pass  # the scripts of all tasks have ended

def save():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(float(sys.argv[3]))
    Path(sys.argv[2]).write_text("all of it")

error_file.start(0)
failures._LEAVE_SECONDS = float(sys.argv[1])
failures.take_over()
failures.report_to(Watchdog())
atexit.register(save)
"""


def test_what_is_left_to_do_is_done_on_sigterm(run_python, tmp_path):
    path = tmp_path / "saved"
    assert not run_python("-c", LAST_PHASE, "60", path, "0.3").stderr
    assert path.read_text() == "all of it"


def test_what_is_cut_off_by_sigterm_is_no_success(run_python, tmp_path):
    path, left = tmp_path / "saved", {"JAXTRIBUTE_ERROR_FILE": str(tmp_path / "error")}
    ended = run_python("-c", LAST_PHASE, "0.05", path, "60", status=143, environment=left)
    assert not path.exists()
    report = "SIGTERM: what this task still does at its end takes more than 0.05 s, and is cut off."
    assert f"jaxtribute: {report} It exits with code 143 (retryable)." in ended.stderr
    assert "in save" in ended.stderr
    assert (tmp_path / "error").read_text().startswith(report)
