"""Who is let in."""

import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from spmd.cluster import Line, connect, listen, prove, readable, strangers
from spmd.errors import LaunchError
from spmd.launch.agents import handshake
from spmd.launch.agents.handshake import Door, greet

TOKEN = b"secret"


class House:
    """A door, a thread that sees to it, and who was let in."""

    def __init__(self) -> None:
        self._admitted: queue.SimpleQueue[dict] = queue.SimpleQueue()
        self._lines: list[Line] = []
        self.said: list[str] = []
        self.door = Door(listen("127.0.0.1", 0), TOKEN, self.said.append)
        self.port = self.door.listener.getsockname()[1]
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._see)
        self._thread.start()

    def connect(self) -> Line:
        return connect("127.0.0.1", self.port, 5.0)

    def next_claim(self) -> dict:
        return self._admitted.get(timeout=60)

    def is_empty(self) -> bool:
        return self._admitted.empty()

    def close(self) -> None:
        self._ends.set()
        self._thread.join()
        self.door.close()
        for line in self._lines:
            line.close()

    def _see(self) -> None:
        while not self._ends.is_set():
            for ready in readable(self.door.sources, 0.02):
                if admitted := self.door.hear(ready):
                    self._lines.append(admitted[0])
                    self._admitted.put(admitted[1])
            self.door.drop_overdue()


def has_ended(stranger: socket.socket) -> bool:
    try:
        return stranger.recv(1) == b""
    except ConnectionResetError:  # what it sent was not read to the end
        return True


@pytest.fixture
def house() -> Iterator[House]:
    with closing(House()) as house:
        yield house


def test_who_has_the_secret_is_let_in_with_what_it_claims(house: House) -> None:
    with closing(house.connect()) as line:
        greet(line, TOKEN, {"name": "a"})
    assert house.next_claim() == {"name": "a"}


def test_who_has_another_secret_is_not_let_in(house: House) -> None:
    with closing(house.connect()) as line, pytest.raises(LaunchError, match="the same secret"):
        greet(line, b"other", {"name": "a"})
    assert house.is_empty()


def test_who_cannot_prove_its_claim_is_sent_away_and_told_of(house: House) -> None:
    with closing(house.connect()) as line:
        line.send({"challenge": "a"})
        readable([line], 5.0)
        line.receive()
        line.send({"claim": {"name": "a"}, "proof": "0" * 64})
        readable([line], 5.0)
        assert line.receive() == [{"refused": True}]
    assert house.is_empty()
    assert "127.0.0.1" in house.said[0]


@pytest.mark.parametrize(
    "sent",
    [
        b"[" * 10_000 + b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\n",
        b"{}\n",
        b"[]\n",
        b'{"challenge": 1}\n',
        json.dumps({"claim": {"name": "a"}, "proof": ""}).encode() + b"\n",
        json.dumps({"claim": "a", "proof": "a"}).encode() + b"\n",
        b"a" * 40_000,
    ],
)
def test_what_is_no_greeting_ends_the_connection(house: House, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", house.port), 5.0) as stranger:
        stranger.sendall(sent)
        assert has_ended(stranger)
    with closing(house.connect()) as line:
        greet(line, TOKEN, {})
    assert house.next_claim() == {}
    assert house.is_empty()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(strangers, "ANSWER_SECONDS", 0.2)


def test_a_silent_stranger_is_dropped(impatient: None, house: House) -> None:
    with socket.create_connection(("127.0.0.1", house.port), 5.0) as stranger:
        assert has_ended(stranger)


def test_the_oldest_of_many_strangers_is_dropped(
    monkeypatch: pytest.MonkeyPatch, house: House
) -> None:
    monkeypatch.setattr(strangers, "MOST", 2)
    opened = [socket.create_connection(("127.0.0.1", house.port), 5.0) for _ in range(3)]
    assert has_ended(opened[0])
    with closing(house.connect()) as line:
        greet(line, TOKEN, {})
    for stranger in opened:
        stranger.close()
    assert house.next_claim() == {}
    assert house.is_empty()


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (b'{"challenge": "b", "proof": "c"}\n', LaunchError, "does not prove it"),
        (b"{}\n", LaunchError, "does not prove it"),
        (b"HTTP/1.1 400 Bad Request\r\n", ConnectionError, "closed the connection"),
        (b"", ConnectionError, "has said nothing"),
    ],
)
def test_a_leader_has_to_prove_it_too(
    impatient: None, answer: bytes, error: type[Exception], message: str
) -> None:
    with (
        listen("127.0.0.1", 0) as listener,
        closing(connect("127.0.0.1", listener.getsockname()[1], 5.0)) as line,
        listener.accept()[0] as accepted,
    ):
        accepted.sendall(answer)
        with pytest.raises(error, match=message):
            greet(line, TOKEN, {"name": "a"})
        assert b"claim" not in accepted.recv(4096)


def test_what_the_leader_says_together_with_the_welcome_is_returned() -> None:
    with (
        listen("127.0.0.1", 0) as listener,
        closing(connect("127.0.0.1", listener.getsockname()[1], 5.0)) as line,
        closing(Line(listener.accept()[0])) as leader,
    ):

        def answer() -> None:
            readable([leader], 5.0)
            (asked,) = leader.receive()
            proof = prove(TOKEN, "leader", asked["challenge"], "b")
            leader.send({"challenge": "b", "proof": proof})
            readable([leader], 5.0)
            leader._socket.sendall(b'{"welcome": true}\n{"here": true}\n{"start": 1}\n')

        thread = threading.Thread(target=answer)
        thread.start()
        assert greet(line, TOKEN, {"name": "a"}) == [{"here": True}, {"start": 1}]
        thread.join()


def test_a_proof_cannot_be_used_again(house: House) -> None:
    """What a listener on the network has heard is of no use to it: the door makes up another text."""
    with closing(house.connect()) as line:
        greet(line, TOKEN, {"name": "a"})
    sent: list[Callable] = []
    with closing(house.connect()) as line:
        original = line.send
        line.send = lambda message: (sent.append(message), original(message))
        greet(line, TOKEN, {"name": "b"})
    with closing(house.connect()) as line:
        for message in sent:
            line.send(message)
            readable([line], 5.0)
            heard = line.receive()
    assert heard == [{"refused": True}]
    assert [house.next_claim()["name"] for _ in range(2)] == ["a", "b"]
    assert house.is_empty()
