"""Joining a cluster, as far as one process goes; tests/multiprocess/cluster starts several."""

import os
import sys

import jax
import pytest

from spmd import _jax_internals
from spmd.cluster import initialize, runtime, shutdown
from spmd.cluster.rendezvous import Meeting
from spmd.errors import ClusterStartError

NO_PROXY = "no_grpc_proxy"


def test_one_process_starts_nothing():
    before = sys.excepthook
    initialize(["localhost:1"], 0)
    assert _jax_internals.coordination_client() is None
    assert sys.excepthook is before
    assert (runtime.process_id(), runtime.task_names()) == (0, ("worker 0",))
    shutdown()


def test_a_second_call():
    initialize(["localhost:1"], 0, names=["chief 0"])
    initialize(["localhost:1"], 0, names=["chief 0"])
    assert runtime.task_names() == ("chief 0",)
    with pytest.raises(
        ClusterStartError, match=r"joined a cluster already, as process 0 of \['localhost:1'\]"
    ):
        initialize(["localhost:2"], 0)


def test_a_backend_that_runs_already(monkeypatch):
    assert jax.devices()
    monkeypatch.setattr(sys.modules["__main__"], "too_early", jax.numpy.ones(2), raising=False)
    with pytest.raises(ClusterStartError) as caught:
        initialize(["localhost:1", "localhost:2"], 1, names=["chief 0", "worker 0"])
    assert str(caught.value).startswith("worker 0 (localhost:2) can no longer join its cluster")
    assert "Arrays of the script that exist already: too_early" in str(caught.value)
    assert "right after the imports" in str(caught.value)
    assert not caught.value.retryable


def test_a_task_that_starts_again_and_again_does_not_train(monkeypatch):
    monkeypatch.setattr(runtime, "_check_nothing_runs", lambda roster: None)
    monkeypatch.setenv("JAXTRIBUTE_RESTART", "104")
    monkeypatch.setenv("JAXTRIBUTE_RESTART_LIMIT", "103")
    with pytest.raises(ClusterStartError, match="started again 104 times") as raised:
        initialize(["localhost:1", "localhost:2"], 0)
    assert not raised.value.retryable


@pytest.mark.parametrize(("process", "index"), [(0, 0), (1, 0), (2, 1)])
def test_tasks_of_one_machine_have_files_of_their_own(monkeypatch, process, index):
    found = []

    def end(*_):
        raise ClusterStartError("nobody came")

    monkeypatch.setattr(runtime, "_check_nothing_runs", lambda roster: None)
    monkeypatch.setattr(runtime.error_file, "start", found.append)
    monkeypatch.setattr(runtime.health, "start", lambda _, task: found.append(task))
    monkeypatch.setattr(runtime.failures, "take_over", lambda: None)
    monkeypatch.setattr(runtime, "meet", end)
    with pytest.raises(ClusterStartError):
        initialize(["10.0.0.1:1", "10.0.0.2:1", "10.0.0.2:2"], process)
    assert found == [index, index]


def test_a_start_that_failed_is_tried_again(monkeypatch):
    """Two of two addresses, without another process: what meets them and what JAX does are stand-ins."""
    tries, failures = [], iter([ClusterStartError("the port was taken"), KeyboardInterrupt()])

    def start_jax(*_):
        tries.append(runtime._joined)
        for failure in failures:
            raise failure

    monkeypatch.setattr(runtime, "_check_nothing_runs", lambda roster: None)
    monkeypatch.setattr(runtime, "meet", lambda *_: Meeting({}, "localhost:1", ""))
    monkeypatch.setattr(runtime, "_start_jax", start_jax)
    monkeypatch.setattr(runtime.failures, "take_over", lambda: None)
    monkeypatch.setattr(runtime, "delay_aborts", lambda: None)
    monkeypatch.setattr(runtime.atexit, "register", lambda *_: None)
    for failure in (ClusterStartError, KeyboardInterrupt):
        with pytest.raises(failure):
            initialize(["localhost:1", "localhost:2"], 0)
        assert runtime.task_names() == ("worker 0",)
        assert not tries[-1].watchdog.is_alive()
    initialize(["localhost:1", "localhost:2"], 0)
    assert len(tries) == 3
    assert runtime.task_names() == ("worker 0", "worker 1")
    runtime.failures.report_to(None)
    tries[-1].watchdog.stop()


@pytest.mark.parametrize("name", ["JAXTRIBUTE_START_TIMEOUT", "JAXTRIBUTE_WATCHDOG_SECONDS"])
@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_malformed_times(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(ValueError, match=f"{name} must be a positive number .* not '{text}'"):
        initialize(["localhost:1"], 0)


def test_a_malformed_argument():
    with pytest.raises(ValueError, match="timeout_seconds must be a positive number"):
        initialize(["localhost:1"], 0, timeout_seconds=-1)


def test_one_setting_steers_all_waits(monkeypatch):
    assert runtime.wait_seconds() == 660
    monkeypatch.setenv("JAXTRIBUTE_WATCHDOG_SECONDS", "20")
    assert runtime.wait_seconds() == 80
    initialize(["localhost:1"], 0, watchdog_seconds=5)
    assert runtime.wait_seconds() == 65


def test_proxies_are_passed_by(monkeypatch):
    for name in ("grpc_proxy", "https_proxy", "http_proxy", NO_PROXY):
        monkeypatch.delenv(name, raising=False)
    with runtime._past_proxies("host"):
        assert NO_PROXY not in os.environ
    monkeypatch.setenv("http_proxy", "http://proxy:1")
    monkeypatch.setenv("no_proxy", "a,b")
    with runtime._past_proxies("host"):
        assert os.environ.get(NO_PROXY) == "a,b,host"
    assert NO_PROXY not in os.environ
    monkeypatch.setenv(NO_PROXY, "c")
    with runtime._past_proxies("host"):
        assert os.environ.get(NO_PROXY) == "c,host"
    assert os.environ.get(NO_PROXY) == "c"
