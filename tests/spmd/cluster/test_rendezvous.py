"""How processes find each other: threads play the processes, over real connections."""

import contextlib
import json
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from spmd.cluster import rendezvous, strangers
from spmd.cluster.address import split_address
from spmd.cluster.job_token import prove
from spmd.cluster.rendezvous import meet
from spmd.cluster.roster import Roster
from spmd.cluster.wire import Line, connect, listen, readable
from spmd.errors import ClusterStartError

LONG = 30.0  # never reached


@pytest.fixture(autouse=True)
def _sooner(monkeypatch):
    """Has processes speak and print more often than once a second."""
    monkeypatch.setattr(rendezvous, "_BEAT", 0.1)
    monkeypatch.setattr(rendezvous, "_QUIET", 0.1)


@pytest.fixture
def addresses():
    """Addresses of three processes on this machine."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(listen("127.0.0.1", 0)) for _ in range(3)]
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


@pytest.fixture
def start():
    """Starts a process; gives its future, and what it printed."""
    with ThreadPoolExecutor(8) as pool:
        futures = []

        def one(addresses, process, seconds=LONG):
            said = _Said()
            future = pool.submit(meet, Roster(addresses, process), seconds, say=said)
            futures.append(future)
            return future, said

        yield one
        for future in futures:
            if future.exception(LONG) is None:
                for line in future.result().lines.values():
                    line.close()


class _Said(list):
    """Lines that were printed; others may wait for one."""

    def __init__(self):
        super().__init__()
        self._more = threading.Condition()

    def __call__(self, text):
        with self._more:
            self.append(text)
            self._more.notify_all()

    def wait_for(self, word):
        with self._more:
            assert self._more.wait_for(lambda: any(word in text for text in self), LONG)


def error_of(process):
    with pytest.raises(ClusterStartError) as caught:
        process[0].result(LONG)
    return caught.value


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_all_meet(start, host):
    with listen(split_address(f"{host}:1")[0], 0) as one:
        addresses = [f"{host}:{one.getsockname()[1]}", f"{host}:1", f"{host}:2"]
    meetings = [start(addresses, process)[0] for process in (2, 0, 1)]
    last, first, middle = (future.result(LONG) for future in meetings)
    assert sorted(first.lines) == [1, 2]
    assert list(middle.lines) == list(last.lines) == [0]
    port = split_address(addresses[0])[1]
    assert {split_address(meeting.coordinator)[1] for meeting in (first, middle, last)} == {port}
    # The lines stay, and the port is left to JAX.
    with listen(split_address(first.bind)[0], port):
        first.lines[2].send({"to": 2})
        assert last.lines[0].receive() == [{"to": 2}]


def test_a_process_with_others_elsewhere_listens_at_all_its_addresses(start, addresses):
    port = split_address(addresses[0])[1]
    mine = [f"localhost:{port}", "elsewhere.invalid:1"]
    first, other = start(mine, 0)[0], start([f"127.0.0.1:{port}", "elsewhere.invalid:1"], 1)[0]
    assert first.result(LONG).bind == f"127.0.0.1:{port}"  # where the other one came from
    assert other.result(LONG).coordinator == f"127.0.0.1:{port}"


def test_who_does_not_come_is_named(start, addresses):
    first = start(addresses, 0, 2.0)
    first[1].wait_for("waits for")
    other = start(addresses, 1, 1.0)
    for error in (error_of(first), error_of(other)):
        assert "worker 2" in error.missing
        assert f"worker 2 ({addresses[2]})" in str(error)
        assert "To wait longer, set JAXTRIBUTE_START_TIMEOUT=" in str(error)
        assert error.retryable
    assert "leads to this process" in str(error_of(first))
    for process in (first, other):
        assert any(f"waits for worker 2 ({addresses[2]})" in line for line in process[1])


def test_without_process_0_it_is_named_with_the_reason(start, addresses):
    error = error_of(start(addresses, 1, 0.5))
    assert error.missing == ("worker 0",)
    assert "The last try to connect: Connection refused" in str(error)
    assert "`getent hosts 127.0.0.1`" in str(error)


def test_a_name_that_does_not_resolve(start):
    error = error_of(start(["nowhere.invalid:1", "localhost:1"], 1, 0.5))
    assert "'nowhere.invalid' resolves" in str(error)
    assert "known" in str(error) or "resolution" in str(error)


def test_each_side_quotes_its_own_list(start, addresses):
    first = start(addresses[:2], 0, 1.5)
    other = start([addresses[0], addresses[2]], 1)
    error = error_of(other)
    assert not error.retryable
    both = "disagree about the cluster (about the address of worker 1). Give every task the same"
    assert both in str(error)
    assert f"In worker 1 it is {[addresses[0], addresses[2]]}" in str(error)
    assert addresses[1] not in str(error)  # whoever is not of this cluster learns nothing of it
    here = str(error_of(first))
    assert both in here
    assert f"worker 1 is at {addresses[1]} here, at {addresses[2]} there" in here
    assert f"Expected {addresses[:2]}" in here


def test_lists_of_other_lengths(start, addresses):
    start(addresses[:2], 0, 1.5)
    assert "2 tasks here, 3 there" in str(error_of(start(addresses, 1)))


def test_two_processes_with_one_index(start, addresses):
    first, one = start(addresses, 0), start(addresses, 1)
    first[1].wait_for("waits for worker 2")  # so the other one has come
    error = error_of(start(addresses, 1))
    assert "Two processes claim to be worker 1" in str(error)
    assert str(error).count(socket.gethostname()) == 2
    # Neither of the others is harmed.
    start(addresses, 2)
    assert sorted(first[0].result(LONG).lines) == [1, 2]
    assert list(one[0].result(LONG).lines) == [0]


def test_two_processes_0_on_one_machine(start, addresses):
    first = start(addresses, 0)
    first[1].wait_for("waits for")
    second = error_of(start(addresses, 0))  # long before its time is over
    assert re.search(
        r"sent away. Two processes claim to be worker 0 .*came first, then process", str(second)
    )
    assert not second.retryable
    for process in (1, 2):
        start(addresses, process)
    first[0].result(LONG)


def test_two_processes_0_on_two_machines(start, addresses, monkeypatch):
    first = start(addresses, 0)
    first[1].wait_for("waits for")
    with listen("127.0.0.1", 0) as elsewhere:  # where the second listens, as on another machine
        monkeypatch.setattr(rendezvous, "listen", lambda host, port: elsewhere)
        second = error_of(start(addresses, 0))
    assert "Two processes claim to be worker 0" in str(second)
    first[1].wait_for("Two processes claim to be worker 0")
    for process in (1, 2):
        start(addresses, process)
    first[0].result(LONG)


@pytest.mark.parametrize(
    "answer", [{"is_double": True}, {"is_double": True, "refused": "\x1b]0;x"}]
)
def test_somebody_else_answers_the_probe(start, addresses, answer):
    with listen(*split_address(addresses[0])) as other:
        first = start(addresses, 0)
        line = Line(other.accept()[0])
        line.send(answer)
        assert str(error_of(first)).isprintable()
        line.close()


def test_a_process_0_knows_itself(start, addresses):
    first, said = start(addresses, 0)
    said.wait_for("waits for")
    time.sleep(0.5)  # longer than it waits before it looks
    assert not first.done()
    for process in (1, 2):
        start(addresses, process)
    first.result(LONG)
    assert not any("claim" in text for text in said)


def test_a_process_that_was_started_again_takes_its_place(start, addresses):
    first = start(addresses, 0)
    first[1].wait_for("waits for")
    host, port = split_address(addresses[0])
    hello = {"process_id": 1, "addresses": addresses, "host": "h", "pid": 1}
    former = connect(host, port, 5.0)
    former.send(hello)
    first[1].wait_for(f"waits for worker 2 ({addresses[2]});")
    former.close()
    start(addresses, 1)
    start(addresses, 2)
    assert sorted(first[0].result(LONG).lines) == [1, 2]


def test_strangers_do_not_disturb(start, addresses):
    first = start(addresses[:2], 0)
    first[1].wait_for("waits for")
    host, port = split_address(addresses[0])
    with contextlib.ExitStack() as stack:
        for words in (b"GET / HTTP/1.1\r\n\r\n", b"", b"{}\n", b'{"process_id": 1}\n'):
            stranger = stack.enter_context(socket.create_connection((host, port), 5.0))
            stranger.sendall(words)
        start(addresses[:2], 1)
        assert list(first[0].result(LONG).lines) == [1]


def answers(address, words, seconds=5.0):
    """What a stranger hears who says something; None if it hears nothing."""
    with socket.create_connection(split_address(address), seconds) as stranger:
        stranger.settimeout(seconds)
        with contextlib.suppress(OSError):
            stranger.sendall(words)
            heard = b""
            while piece := stranger.recv(1 << 16):
                heard += piece
            return heard
    return None


@pytest.mark.parametrize(
    "words",
    [
        b"[" * 100_000 + b"\n",
        b"x" * 1_000_000,
        b'{"process_id": ' + b"9" * 4000 + b"}\n",
        b'{"process_id": true, "addresses": [1, null, {}]}\n',
        b'{"process_id": 1, "addresses": ["\\u001b[31m", "'
        + b"a" * 3000
        + b'"], "host": "\\u001b]0;x\\u0007"}\n',
        b'{"process_id": -1, "addresses": ["a:1", "b:1"]}\n',
    ],
)
def test_what_a_stranger_sends(start, addresses, words):
    first, said = start(addresses[:2], 0)
    said.wait_for("waits for")
    heard = answers(addresses[0], words) or b""
    assert addresses[1].encode() not in heard
    assert len(heard) < 1000
    start(addresses[:2], 1)
    assert list(first.result(LONG).lines) == [1]
    for text in said:
        assert text.isprintable()
        assert len(text) < 3000


def test_many_strangers(start, addresses, monkeypatch):
    monkeypatch.setattr(strangers, "ANSWER_SECONDS", 1.0)
    first, said = start(addresses[:2], 0)
    said.wait_for("waits for")
    with contextlib.ExitStack() as stack:
        opened = [
            stack.enter_context(socket.create_connection(split_address(addresses[0]), 5.0))
            for _ in range(200)
        ]
        until = time.monotonic() + LONG
        while time.monotonic() < until:  # one more letter each time does not keep a place
            time.sleep(0.1)
            with contextlib.suppress(OSError):
                opened[-1].sendall(b"x")
                continue
            break
        assert time.monotonic() < until
    for number in range(20):
        answers(addresses[0], b'{"process_id": 1, "addresses": [], "pid": %d}\n' % number)
    start(addresses[:2], 1)
    assert list(first.result(LONG).lines) == [1]
    assert sum("sent process" in text for text in said) == 10


def test_the_coordinator_listens_where_the_others_come_from(start):
    try:
        own = socket.gethostbyname(socket.gethostname())
        listen(own, 0).close()
    except OSError:
        pytest.skip("this machine has no address by its name")
    with listen(own, 0) as one:
        port = one.getsockname()[1]
    # An address of the network, as far as anybody knows: the second is elsewhere.
    addresses = [f"{own}:{port}", "elsewhere.invalid:1"]
    first = start(addresses, 0)
    start(addresses, 1)
    meeting = first[0].result(LONG)
    assert (meeting.bind, meeting.coordinator) == (f"{own}:{port}",) * 2


@pytest.fixture
def tokens(monkeypatch):
    """The token of each process, in place of the environment's."""
    found = {}

    class Wait(rendezvous._Wait):
        def __init__(self, roster, *rest):
            super().__init__(roster, *rest)
            self.token = found.get(roster.process_id, b"")

    monkeypatch.setattr(rendezvous, "_Wait", Wait)
    return found


def test_all_meet_who_have_the_secret(start, addresses, tokens):
    tokens.update(dict.fromkeys(range(3), b"secret"))
    processes = [start(addresses, process)[0] for process in (2, 1, 0)]
    assert sorted(processes[2].result(LONG).lines) == [1, 2]
    assert all(list(process.result(LONG).lines) == [0] for process in processes[:2])


@pytest.mark.parametrize(
    ("secrets", "message"),
    [
        (
            {0: b"secret"},
            r"worker 0 has the secret of a job, and worker 1 has none\. Give every task",
        ),
        (
            {1: b"secret"},
            r"worker 1 has the secret of a job, and worker 0 has none\. Give every task",
        ),
        ({0: b"secret", 1: b"other"}, r"does not have the secret of this job\. Give every task"),
    ],
)
def test_who_has_another_secret(start, addresses, tokens, secrets, message):
    tokens.update(secrets)
    first = start(addresses[:2], 0)
    first[1].wait_for("waits for")
    error = error_of(start(addresses[:2], 1))
    assert re.search(message, str(error))
    assert not error.retryable
    tokens[1] = tokens.get(0, b"")
    start(addresses[:2], 1)
    first[0].result(LONG)


def test_a_second_process_0_with_the_secret(start, addresses, tokens):
    tokens.update(dict.fromkeys(range(2), b"secret"))
    first = start(addresses[:2], 0)
    first[1].wait_for("waits for")
    assert "Two processes claim to be worker 0" in str(error_of(start(addresses[:2], 0)))
    start(addresses[:2], 1)
    first[0].result(LONG)


def test_what_was_listened_to_is_of_no_use(start, addresses, tokens):
    """A stranger repeats what worker 1 said and proved; and one that knows only the addresses is told nothing."""
    tokens.update(dict.fromkeys(range(2), b"secret"))
    hello = {"process_id": 1, "addresses": addresses[:2], "challenge": "c", "host": "h", "pid": 1}
    first, said = start(addresses[:2], 0)
    said.wait_for("waits for")
    proofs = []
    for _ in range(2):
        with contextlib.closing(connect(*split_address(addresses[0]), 5.0)) as stranger:
            stranger.send(hello)
            assert readable([stranger], LONG)
            (asked,) = stranger.receive()
            assert asked.keys() == {"challenge", "proof"}
            proofs.append(prove(b"secret", "guest", "c", asked["challenge"], [1, addresses[:2]]))
            if len(proofs) == 2:
                stranger.send({"proof": proofs[0]})  # of the first time
                said.wait_for("process 1 on h does not have the secret of this job")
                assert readable([stranger], LONG)
                assert stranger.receive() is None
    assert not first.done()
    start(addresses[:2], 1)
    assert list(first.result(LONG).lines) == [1]


def test_a_port_that_a_former_run_holds_is_waited_for(start, addresses):
    former = listen(*split_address(addresses[0]))
    first = start(addresses[:2], 0)
    first[1].wait_for("waits for its own port")
    former.close()
    start(addresses[:2], 1)
    assert list(first[0].result(LONG).lines) == [1]


def test_a_port_that_stays_taken(start, addresses):
    with listen(*split_address(addresses[0])):
        error = error_of(start(addresses, 0, 0.5))
    assert error.retryable
    assert f"port {split_address(addresses[0])[1]}" in str(error)
    assert "ss -ltnp" in str(error)


def test_process_0_says_nothing(start, addresses):
    with listen(*split_address(addresses[0])):
        error = error_of(start(addresses, 1, 0.5))
    assert error.missing == ("worker 0",)
    assert "somebody listens there, but has said nothing" in str(error)


def test_somebody_else_at_the_address_of_process_0(start, addresses):
    """As a coordination service of a former run, which speaks HTTP/2."""
    hellos = []

    def speak_http2(listener):
        with contextlib.suppress(OSError):
            while True:
                with listener.accept()[0] as stranger:
                    hellos.append(json.loads(stranger.recv(4096)))
                    stranger.sendall(b"\0\0\x12\4\0\0\0\0\0\n")

    with listen(*split_address(addresses[0])) as listener:
        service = threading.Thread(target=speak_http2, args=[listener])
        service.start()
        error = error_of(start(addresses, 1, 1.0))
        listener.shutdown(socket.SHUT_RDWR)
    service.join(LONG)
    assert error.missing == ("worker 0",)
    assert "somebody listens there who is not a starting task" in str(error)
    assert {tuple(hello["addresses"]) for hello in hellos} == {tuple(addresses)}
