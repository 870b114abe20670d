"""Messages between processes: lines of JSON, and the end of a connection."""

import contextlib
import socket

import pytest

from spmd.cluster.wire import Line, connect, listen, readable


@pytest.fixture
def ends():
    with contextlib.ExitStack() as stack:
        mine, other = socket.socketpair()
        yield stack.enter_context(contextlib.closing(Line(mine))), stack.enter_context(other)


def test_messages_arrive_in_order_and_whole(ends):
    line, other = ends
    other.sendall(b'{"a": 1}\n{"b": [2]}\n{"c"')
    assert line.receive() == [{"a": 1}, {"b": [2]}]
    other.sendall(b": 3}\n")
    assert line.receive() == [{"c": 3}]


def test_what_is_sent_is_a_line_of_json(ends):
    line, other = ends
    line.send({"text": "two\nlines"})
    assert other.recv(100) == b'{"text": "two\\nlines"}\n'


@pytest.mark.parametrize(
    "arrived",
    [b"GET / HTTP/1.1\r\n\r\n", b"[1]\n", b"\xff\xfe\n", b"[" * 20_000 + b"\n"],
    ids=["another protocol", "no object", "no text", "nested too deeply"],
)
def test_what_is_no_message_ends_the_line(ends, arrived):
    line, other = ends
    other.sendall(arrived)
    assert line.receive() is None


def test_a_line_without_an_end_is_not_kept(ends):
    line, other = ends
    other.settimeout(0)
    received = []
    while received is not None and sum(map(len, received)) == 0:
        with contextlib.suppress(BlockingIOError):
            other.send(b"x" * 65536)
        received = line.receive()
    assert received is None


def test_the_end_of_the_other_process_is_seen(ends):
    line, other = ends
    other.close()
    assert readable([line], 5.0) == [line]
    assert line.receive() is None
    for _ in range(2):  # the first one may still be taken by the kernel
        line.send({"a": 1})


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", None])
def test_a_port_is_free_while_connections_through_it_stay(host):
    with listen(host, 0) as listener:
        port = listener.getsockname()[1]
        line = connect("localhost" if host is None else host, port, 5.0)
        other = Line(listener.accept()[0])
    with contextlib.closing(line), contextlib.closing(other), listen(host, port):
        line.send({"still": "here"})
        assert other.receive() == [{"still": "here"}]
