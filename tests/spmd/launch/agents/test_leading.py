"""The thread that hears agents, with agents that a test plays."""

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spmd.cluster import Line, listen, readable
from spmd.launch.agents import leading as leading_module
from spmd.launch.agents.handshake import greet
from spmd.launch.agents.leader import Leader, Patience
from spmd.launch.agents.leading import Leading
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.tasks import Roles

TOKEN = b"secret"


class House:
    """A leader of one or two workers on this machine, and agents that connect to it."""

    def __init__(self, settle: float = 600.0) -> None:
        self.said: list[str] = []
        self.lines: list[Line] = []
        listener = listen("0.0.0.0", 0)
        self.port = listener.getsockname()[1]
        policy, patience = RestartPolicy(0), Patience(settle, 600.0, 100)
        roles = Roles(2, min_workers=1)
        leader = Leader(roles, policy, patience, self.said.append, "job", time.monotonic())
        self.leading = Leading(listener, TOKEN, leader, self.said.append)
        self.leader = leader

    def come(self, address: str = "127.0.0.1", **claim: Any) -> Line:
        connection = socket.create_connection((address, self.port), 60, (address, 0))
        line = Line(connection)
        self.lines.append(line)
        greet(line, TOKEN, {"name": "host", "pid": 1, "port": 20_000, **claim})
        return line

    def close(self) -> None:
        self.leading.close()
        for line in self.lines:
            line.close()


def hear(line: Line, key: str) -> Any:
    """Waits for a message; None if the line is closed."""
    while readable([line], 60.0):
        messages = line.receive()
        if messages is None:
            return None
        for message in messages:
            if key in message:
                return message[key]
    raise AssertionError(f"no {key}")


@pytest.fixture
def house() -> Iterator[Callable[..., House]]:
    houses: list[House] = []

    def make(**options: float) -> House:
        houses.append(House(**options))
        return houses[-1]

    yield make
    for each in houses:
        each.close()


def test_agents_start_and_hear_that_the_job_is_over(house: Callable) -> None:
    job = house()
    lines = [job.come(leads=True), job.come(port=20_001)]
    starts = [hear(line, "start") for line in lines]
    assert [start["task"] for start in starts] == [0, 1]
    assert starts[0]["addresses"] == ["127.0.0.1:20000", "127.0.0.1:20001"]
    for line in lines:
        line.send({"ended": 0, "port": 20_002})
    assert [hear(line, "over") for line in lines] == [0, 0]
    for line in lines:
        line.close()
    job.leading.close()
    assert job.leader.status == 0
    with pytest.raises(OSError, match="refused"):
        job.come()


def test_an_agent_that_closes_its_connection_is_lost(house: Callable) -> None:
    job = house()
    first, second = job.come(leads=True), job.come()
    hear(first, "start")
    second.close()
    assert hear(first, "stop")
    job.leading.close()
    assert any("has gone: its connection closed" in text for text in job.said)


def test_a_silent_agent_is_lost(house: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leading_module, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(leading_module, "BEAT_SECONDS", 0.1)
    job = house()
    first, second = job.come(), job.come()
    hear(first, "start")
    for _ in range(20):  # a second
        first.send({"here": True})
        time.sleep(0.05)
    assert hear(second, "never") is None
    assert hear(first, "stop")


def test_a_leader_that_leaves_closes_all_connections(house: Callable) -> None:
    job = house()
    line = job.come()
    job.leading.close()
    assert hear(line, "never") is None


def test_who_has_come_by_the_loopback_address_is_found_by_the_others(
    house: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here another machine is at 127.0.0.2."""
    monkeypatch.setattr(leading_module, "is_loopback", lambda host: host == "127.0.0.1")
    job = house()
    first, second = job.come(leads=True), job.come("127.0.0.2", port=20_001)
    assert hear(first, "start")["addresses"] == ["127.0.0.2:20000", "127.0.0.2:20001"]
    hear(second, "start")


def test_agents_of_the_same_machine_are_told_apart(house: Callable) -> None:
    job = house()
    job.come(pid=7)
    job.come(pid=8)
    job.leading.close()
    names = [text.partition(" has come, at 127.0.0.1")[0] for text in job.said[:2]]
    assert names == ["host", "host (process 8)"]


def test_another_command_is_told_of(house: Callable) -> None:
    job = house()
    for command in ("train.py", "train.py", "other.py"):
        job.come(command=command)
    while not any("another command" in text for text in job.said):
        time.sleep(0.01)
    (told,) = (text for text in job.said if "another command" in text)
    assert "other.py, while the first agent runs train.py" in told
