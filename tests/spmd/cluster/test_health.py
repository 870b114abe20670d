"""What a process tells of its health: to probes, to Prometheus, and in a file."""

import atexit
import json
import time
import urllib.error
import urllib.request

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.cluster import health
from spmd.cluster.health import Health
from spmd.cluster.progress import progress
from spmd.errors import ClusterConfigError
from tests.ports import free_ports


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Starts what this process tells, at a free port and in a file; gives the health and the address."""
    monkeypatch.setattr(health, "_BEAT_SECONDS", 0.02)
    (port,) = free_ports(1)
    monkeypatch.setenv("JAXTRIBUTE_HEALTH_ADDRESS", f"127.0.0.1:{port}")
    monkeypatch.setenv("JAXTRIBUTE_HEARTBEAT_FILE", str(tmp_path / "beat"))
    services = []

    def start(task: int = 0) -> Health:
        monkeypatch.setattr(health, "_started", None)
        one = health.start(600.0, task)
        services.append(health._started)
        return one

    yield start, f"http://127.0.0.1:{port}"
    for service in services:
        service.close()
        atexit.unregister(service.close)


def get(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_probes_and_prometheus_are_answered(started) -> None:
    start, address = started
    one = start()
    one.stepped({"loss": np.float32(0.25), "accuracy": np.float32(1)})
    one.saved()
    code, text = get(f"{address}/healthz")
    status = json.loads(text)
    assert (code, status["ok"], status["step"], status["loss"]) == (200, True, 1, 0.25)
    assert status["checkpoint_time"] == pytest.approx(time.time(), abs=60)
    code, text = get(f"{address}/metrics")
    lines = text.splitlines()
    assert code == 200
    assert {"jaxtribute_steps_total 1", "jaxtribute_loss 0.25"} <= set(lines)
    assert "# TYPE jaxtribute_steps_per_second gauge" in lines
    assert get(f"{address}/other")[0] == 404


def test_a_file_is_kept_fresh(started, tmp_path) -> None:
    one = started[0]()
    deadline = time.monotonic() + 60
    for step in (1, 2):
        one.stepped(None)
        while not (tmp_path / "beat").exists() or _beat(tmp_path)["step"] < step:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert not list(tmp_path.glob("beat-*"))


def _beat(folder) -> dict:
    return json.loads((folder / "beat").read_text())


def test_steps_count_themselves_and_tell_their_loss(started) -> None:
    one = started[0]()
    total = spmd.Variable(np.float32(0))

    def step(x):
        total.value = total.value + 1
        return spmd.all_reduce(jnp.sum(x)) * total.value

    train = spmd.Step(step, spmd.make_mesh(["cpu:0", "cpu:1"]))
    for _ in range(3):
        jax.block_until_ready(train(np.ones(2, np.float32)))  # a loss is not waited for
    assert (one.status()["step"], one.status()["loss"]) == (3, 12.0)


def test_who_stops_stepping_is_not_healthy_unless_it_says_what_it_does(monkeypatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(health.time, "monotonic", lambda: now[0])
    one = Health(60.0)
    now[0] += 1000
    assert one.status()["ok"]  # it has not trained yet
    one.stepped(None)
    now[0] += 59
    assert one.status()["ok"]
    now[0] += 2
    assert not one.status()["ok"]
    with progress.busy("compiles train"):
        assert one.status()["ok"]
        assert one.status()["doing"] == "compiles train"


def test_steps_per_second_are_those_of_the_last_minute(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(health.time, "monotonic", lambda: now[0])
    one = Health(600.0)
    for second in range(200):
        for _ in range(5 if second < 100 else 2):
            one.stepped(None)
        now[0] += 1
        one.beat()
    assert one.status()["steps_per_second"] == 2.0


def test_a_loss_that_is_not_there_yet_is_not_waited_for() -> None:
    class Running:
        ndim = 0

        def is_ready(self) -> bool:
            return False

    one = Health(600.0)
    one.stepped(np.float32(2))
    assert one.status()["loss"] == 2
    one.stepped(Running())
    assert one.status()["loss"] == 2


def test_nothing_starts_unless_it_is_asked_for(monkeypatch) -> None:
    monkeypatch.setattr(health, "_started", None)
    for name in ("JAXTRIBUTE_HEALTH_ADDRESS", "JAXTRIBUTE_HEARTBEAT_FILE"):
        monkeypatch.delenv(name, raising=False)
    assert health.start(600.0) is None
    assert health.current_health() is None


def test_a_bad_address_is_refused_and_a_taken_port_is_not(started, monkeypatch, caplog) -> None:
    start, _ = started
    assert start()
    assert start()
    assert "Nobody can ask for health at port" in caplog.text
    monkeypatch.setattr(health, "_started", None)
    monkeypatch.setenv("JAXTRIBUTE_HEALTH_ADDRESS", "8080")
    with pytest.raises(ClusterConfigError, match=r"JAXTRIBUTE_HEALTH_ADDRESS=0\.0\.0\.0:8080"):
        health.start(600.0)


def test_the_second_task_of_a_machine_has_the_next_port_and_a_file_of_its_own(
    started, tmp_path
) -> None:
    start, address = started
    host, _, port = address.rpartition(":")
    start(1)
    assert get(f"{host}:{int(port) + 1}/healthz")[0] == 200
    deadline = time.monotonic() + 60
    while not (tmp_path / "beat-1").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
