"""Agents: with a leader that does what a test says, and with each other."""

import os
import re
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from spmd.cluster import Line, listen, readable
from spmd.launch.agents import agent as agent_module
from spmd.launch.agents import handshake
from spmd.launch.agents.handshake import Door
from spmd.launch.agents.leader import Patience
from spmd.launch.agents.start import Start
from spmd.launch.process import Process
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.tasks import Roles
from tests.ports import free_ports

pytestmark = pytest.mark.multiprocess

TOKEN = "secret"
WAITS = """
print("attempt", attempt, os.environ["JAXTRIBUTE_JOB"], flush=True)
open("started", "w").close()
signal.pause()
"""
SAVES = "signal.signal(signal.SIGTERM, lambda *_: sys.exit({}))" + WAITS
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" + WAITS


class FakeLeader(threading.Thread):
    """Listens at a port, lets agents in, and gives the line to each to what a test says."""

    def __init__(self, play: Callable[["FakeLeader"], None], folder: Path, token: str) -> None:
        super().__init__(daemon=True)
        self.door = Door(listen("127.0.0.1", 0), token.encode(), lambda text: None)
        self.ends = threading.Event()
        self.port = self.door.listener.getsockname()[1]
        self.folder, self._play = folder, play
        self.line: Line | None = None
        self.claims: list[dict] = []
        self.heard: list[dict] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with closing(self.door):
                if self.admit():
                    self._play(self)
        except BaseException as error:  # for the test to raise
            self.error = error
        finally:
            if self.line is not None:
                self.line.close()

    def admit(self) -> bool:
        """Waits for an agent to come; tells whether one has."""
        if self.line is not None:
            self.line.close()
        while not self.ends.is_set():
            for ready in readable(self.door.sources, 0.1):
                if admitted := self.door.hear(ready):
                    self.line, claim = admitted
                    self.claims.append(claim)
                    return True
        return False

    def start_worker(self, attempt: int = 0) -> None:
        addresses = ["127.0.0.1:1", f"127.0.0.1:{self.claims[-1]['port']}"]
        self.line.send(Start(attempt, 1, addresses, "j").message())

    def wait_for_worker(self) -> None:
        """Waits until the script has made the file `started`, and removes it."""
        deadline = time.monotonic() + 60
        while not (self.folder / "started").exists():
            assert time.monotonic() < deadline, "the script does not start"
            time.sleep(0.01)
        (self.folder / "started").unlink()

    def hear(self, key: str) -> dict:
        """Waits for a message."""
        while True:
            assert readable([self.line], 60.0)
            messages = self.line.receive()
            assert messages is not None, f"the agent has gone without {key!r}"
            for message in messages:
                if "here" not in message:
                    self.heard.append(message)
                if key in message:
                    return message

    def over(self, status: int) -> None:
        self.line.send({"over": status, "why": "enough"})
        # One that is closed with something unread takes what was sent with it.
        while readable([self.line], 60.0) and self.line.receive() is not None:
            pass


@pytest.fixture
def play(run: Callable, tmp_path: Path) -> Callable[..., tuple]:
    """Runs an agent in this process, with a leader that does what a function says; gives it, and how the agent ended."""

    def start(script: str, acts: Callable, *options: object, token: str = TOKEN) -> tuple:
        leader = FakeLeader(acts, tmp_path, token)
        leader.start()
        where = ("--rendezvous", f"127.0.0.1:{leader.port}", "--workers", "1:2")
        ended = run(script, *where, *options, RAY_AUTH_TOKEN=TOKEN)
        leader.ends.set()
        leader.join(60)
        if leader.error is not None:
            raise leader.error
        return leader, *ended

    return start


def test_a_worker_is_started_and_its_end_told(play: Callable) -> None:
    script = """
        print(task, attempt, os.environ["JAXTRIBUTE_JOB"], config["cluster"]["worker"][0])
        sys.exit("broken")
    """

    def acts(leader: FakeLeader) -> None:
        leader.start_worker(7)
        leader.hear("ended")
        leader.over(3)

    leader, status, out, err = play(script, acts)
    assert status == 3
    assert "[worker 1] worker 1 7 j 127.0.0.1:1" in out
    (ended,) = leader.heard
    assert ended["ended"] == 1
    assert ended["last_lines"] == ["broken"]
    assert ended["port"] in range(1, 65536)
    assert "enough" in err


def test_what_comes_together_with_the_welcome_is_obeyed(
    play: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def greet(*args: object) -> list[dict]:
        return [*handshake.greet(*args), {"over": 5}]

    monkeypatch.setattr(agent_module, "greet", greet)
    _, status, _, _ = play(WAITS, lambda leader: readable([leader.line], 60.0))
    assert status == 5


def test_a_worker_is_ended_when_the_leader_says_so(play: Callable) -> None:
    def acts(leader: FakeLeader) -> None:
        leader.start_worker()
        leader.wait_for_worker()
        leader.line.send({"stop": True})
        leader.line.send({"stop": True})
        assert leader.hear("ended")["ended"] == -signal.SIGTERM
        leader.start_worker(1)
        leader.wait_for_worker()
        leader.line.send({"stop": True})
        leader.hear("ended")
        leader.over(0)

    _, status, out, _ = play(WAITS, acts)
    assert status == 0
    assert re.findall(r"attempt (\d) j", out) == ["0", "1"]


def test_a_worker_that_does_not_end_is_killed(play: Callable) -> None:
    def acts(leader: FakeLeader) -> None:
        leader.start_worker()
        leader.wait_for_worker()
        leader.line.send({"stop": True})
        assert leader.hear("ended")["ended"] == -signal.SIGKILL
        leader.over(0)

    play(DEAF, acts, "--grace-seconds", 0.1)


def test_an_agent_leaves_with_a_worker_that_survives_a_kill(
    play: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "SIGKILL_SECONDS", 0.1)
    deaf: list[Process] = []

    def send(process: Process, number: int) -> None:
        process.signals.append(number)
        deaf.append(process)

    monkeypatch.setattr(Process, "send", send)

    def acts(leader: FakeLeader) -> None:
        leader.start_worker()
        leader.wait_for_worker()
        leader.line.send({"stop": True})
        while readable([leader.line], 60.0) and leader.line.receive() is not None:
            pass

    _, status, _, err = play(WAITS, acts, "--grace-seconds", 0)
    assert status == 143
    assert "SIGKILL did not end worker 1" in err
    deaf[0]._child.wait(60)  # the guard has killed it


@pytest.mark.parametrize("silent", [False, True])
def test_without_a_leader_the_worker_ends_and_another_leader_is_looked_for(
    play: Callable, monkeypatch: pytest.MonkeyPatch, silent: bool
) -> None:
    def acts(leader: FakeLeader) -> None:
        leader.start_worker(4)
        leader.wait_for_worker()
        if silent:
            monkeypatch.setattr(agent_module, "SILENCE_SECONDS", 0.0)
            while leader.line.receive() is not None:
                pass
            monkeypatch.setattr(agent_module, "SILENCE_SECONDS", 60.0)
        leader.line.finish()
        leader.line.close()
        leader.admit()
        leader.over(0)

    leader, status, _, err = play(WAITS, acts)
    assert status == 0
    first, second = leader.claims
    assert "start" not in first
    assert (second["start"]["attempt"], second["start"]["job"]) == (4, "j")
    assert "is lost" in err
    assert "worker 1 ended with SIGTERM" in err


@pytest.mark.parametrize("code", [143, 0, 1])
def test_a_signal_is_passed_on_and_the_agent_leaves(play: Callable, code: int) -> None:
    def acts(leader: FakeLeader) -> None:
        leader.start_worker()
        leader.wait_for_worker()
        os.kill(os.getpid(), signal.SIGTERM)
        assert leader.hear("ended")["ended"] == code

    leader, status, _, _ = play(SAVES.format(code), acts)
    assert status == 143
    assert leader.heard[0] == {"leaving": True, "interrupt": False}


def test_a_start_that_crosses_an_interrupt_of_the_leading_agent_starts_no_worker() -> None:
    rendezvous = agent_module.Rendezvous("localhost:1", Patience(0, 0, 0))
    agent = agent_module._Agent([], Roles(1), {}, RestartPolicy(), rendezvous, b"", None)
    ours, theirs = map(Line, socket.socketpair())
    with closing(ours), closing(theirs):
        agent._line, agent._leaving = ours, signal.SIGINT
        agent._obey(Start(0, 0, ["a:1"], "j").message())
        assert agent._process is None
        (told,) = theirs.receive()
    assert told["ended"] == 143


def test_an_agent_that_waits_leaves_at_once(play: Callable) -> None:
    _, status, _, _ = play(WAITS, lambda leader: os.kill(os.getpid(), signal.SIGTERM))
    assert status == 143


def test_an_agent_without_a_leader_gives_up(run: Callable) -> None:
    words = ("--rendezvous", "192.0.2.1", "--workers", "1:2", "--join-seconds", 0)
    status, _, err = run(WAITS, *words, RAY_AUTH_TOKEN=TOKEN)
    assert status == 143
    assert "found no leader at 192.0.2.1:2222 for 0 s" in err


def test_an_agent_with_another_secret_is_told_so(play: Callable) -> None:
    _, status, _, err = play(WAITS, lambda leader: None, token="other")
    assert status == 2
    assert "does not prove it. Give every agent the same secret: RAY_AUTH_TOKEN_PATH" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workers", "1:2"], "Expected a secret, since agents listen"),
        (["--chief"], "Expected workers only"),
        (["--evaluator"], "there is --evaluator"),
        (["--simulate", "tpu:2"], "there is --simulate"),
        (["--render", "kubernetes", "--image", "i"], "Expected either --rendezvous"),
        (["--rendezvous", "a;b"], "but --rendezvous names 'a;b'"),
        (["--settle-seconds", -1], "--settle-seconds to be from 0"),
        (["--join-seconds", "nan"], "--join-seconds to be from 0"),
        (["--max-interruptions", -1], "--max-interruptions to be from 0"),
    ],
)
def test_what_is_refused(run: Callable, words: list, message: str) -> None:
    status, out, err = run(WAITS, "--rendezvous", "localhost", *words)
    assert (status, out) == (2, "")
    assert err.startswith("jaxtribute launch: Expected")
    assert message in err


def test_an_agent_may_lead_alone(run: Callable) -> None:
    script = """
        print(task, attempt, len(config["cluster"]["worker"]))
        if attempt == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    """
    (port,) = free_ports(1)
    words = ("--rendezvous", f"localhost:{port}", "--workers", "1:2", "--settle-seconds", 0)
    status, out, err = run(script, *words, "--backoff-seconds", 0, RAY_AUTH_TOKEN=TOKEN)
    assert status == 0
    assert re.findall("worker 0 . .", out) == ["worker 0 0 1", "worker 0 1 1"]
    assert f"leads at localhost:{port}" in err
    assert re.search(r"0 │ +1 │ worker 0 on .*│ SIGKILL", err)
    assert re.search(r"1 │ +1 │ +│ ended well", err)


@pytest.fixture
def agents(launch: Callable) -> Callable:
    """Starts agents of a job of two or three workers as processes of their own."""
    (port,), secret = free_ports(1), secrets.token_hex(16)
    words = ("--rendezvous", f"localhost:{port}", "--workers", "2:3", "--settle-seconds", 1)

    def start(count: int) -> list:
        return [launch(SIZES, *words, RAY_AUTH_TOKEN=secret) for _ in range(count)]

    return start


SIZES = """
    import time
    print("workers:", len(config["cluster"]["worker"]), flush=True)
    while not os.path.exists("done"):
        time.sleep(0.05)
"""


# Each of these needs launchers of its own; with a leader or agents that a test plays, the same is quick.
@pytest.mark.slow
def test_agents_go_on_without_one_and_take_in_another(agents: Callable, tmp_path: Path) -> None:
    first, second, third = agents(3)
    for agent in (first, second, third):
        agent.read_until("workers: 3")
    # Whoever came first leads; the others have nothing to say to each other.
    leader, *others = sorted((first, second, third), key=lambda one: not leads(one))
    others[0].kill()
    leader.read_until("workers: 2")
    others[1].read_until("workers: 2")
    (fourth,) = agents(1)
    for agent in (leader, others[1], fourth):
        agent.read_until("workers: 3")
    (tmp_path / "done").touch()
    for agent in (others[1], fourth):
        assert agent.end()[0] == 0
    status, _, err = leader.end()
    assert status == 0
    assert "agent lost" in err
    assert "stopped to take workers in" in err


@pytest.mark.slow
def test_agents_wait_for_a_leader_that_is_killed(agents: Callable, tmp_path: Path) -> None:
    both = agents(2)
    for agent in both:
        agent.read_until("workers: 2")
    leader, other = sorted(both, key=lambda one: not leads(one))
    leader.kill()
    (new,) = agents(1)
    for agent in (other, new):
        agent.read_until("workers: 2")
    (tmp_path / "done").touch()
    assert {agent.end()[0] for agent in (other, new)} == {0}


@pytest.mark.slow
def test_an_interrupt_of_the_leader_ends_all(agents: Callable) -> None:
    both = agents(2)
    for agent in both:
        agent.read_until("workers: 2")
    leader, other = sorted(both, key=lambda one: not leads(one))
    leader.send_signal(signal.SIGINT)
    assert leader.end()[0] == other.end()[0] == 128 + signal.SIGINT


def leads(launcher) -> bool:
    """Tells whether an agent has said that it leads."""
    return b"leads at" in os.read(launcher.stderr.fileno(), 1 << 16)
