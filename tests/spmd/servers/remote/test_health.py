"""Heartbeats, here of actors that are no processes."""

import copy
import threading
import time

import pytest
from ray.exceptions import RayActorError

from spmd.errors import ClusterConfigError
from spmd.servers.remote import health
from spmd.servers.remote.errors import ServerLostError

pytest.importorskip("ray")


class _Actor:
    """Answers, dies or freezes."""

    def __init__(self) -> None:
        self.beat = self
        self.state = "answers"

    def remote(self) -> "_Actor":
        return self


@pytest.fixture
def actors(monkeypatch):
    """Two servers, whose replies stand for Ray's references; an event that tells of the end of what runs there."""

    def wait(references, timeout):
        ready = [one for one in references if one.state != "freezes"]
        if not ready:
            time.sleep(timeout)
        return ready, []

    def get(reference):
        if reference.state == "dies":
            raise RayActorError

    monkeypatch.setattr(health.ray, "wait", wait)
    monkeypatch.setattr(health.ray, "get", get)
    monkeypatch.setattr(health, "BEAT_SECONDS", 0.01)
    monkeypatch.setenv("JAXTRIBUTE_FROZEN_SECONDS", "0.05")
    return _Actor(), _Actor()


@pytest.mark.parametrize(
    ("state", "reason"),
    [("dies", "its process ended, or cannot be reached"), ("freezes", "has not answered for 0 s")],
)
def test_the_loss_of_one_server_is_the_end(actors, state, reason):
    released = threading.Event()
    found = health.Health([(actors[0], "ps_0"), (actors[1], "ps_1")], released.set)
    assert not released.wait(0.1)
    found.check()
    actors[1].state = state
    assert released.wait(10)
    with pytest.raises(
        ServerLostError, match=f"server ps 1 is gone, .*: .*{reason}.* restore the"
    ) as caught:
        found.check()
    assert caught.value.loss.endswith(f"{reason}.")
    copied = copy.copy(caught.value)  # as when it is sent
    assert (str(copied), copied.loss) == (str(caught.value), caught.value.loss)
    assert "ps 1" in str(found.fail(health.lost("ps_0", "late")))


def test_each_caller_gets_an_error_of_its_own(actors):
    found = health.Health([(actors[0], "ps_0")], lambda: None)
    errors = [found.fail(health.lost("ps_0", "it ended")) for _ in range(2)]
    for _ in range(2):
        with pytest.raises(ServerLostError) as raised:
            found.check()
        errors.append(raised.value)
    assert len({id(error) for error in errors}) == 4
    assert len({str(error) for error in errors}) == 1


def test_a_cluster_that_is_no_longer_used_ends_once(actors):
    ends = []
    found = health.Health([(actors[0], "ps_0")], lambda: ends.append(1))
    found.stop()
    found.stop()
    actors[0].state = "dies"
    time.sleep(0.1)
    assert ends == [1]
    found.check()


def test_when_a_task_counts_as_frozen(monkeypatch):
    monkeypatch.delenv("JAXTRIBUTE_FROZEN_SECONDS", raising=False)
    assert health.frozen_seconds() == 60
    monkeypatch.setenv("JAXTRIBUTE_FROZEN_SECONDS", "2.5")
    assert health.frozen_seconds() == 2.5
    for text in ("soon", "-1", "nan"):
        monkeypatch.setenv("JAXTRIBUTE_FROZEN_SECONDS", text)
        with pytest.raises(
            ClusterConfigError, match=f"positive number of seconds, but is '{text}'"
        ):
            health.frozen_seconds()
