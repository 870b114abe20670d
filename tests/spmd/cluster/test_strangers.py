"""What bounds strangers."""

import contextlib
import socket

from spmd.cluster import strangers
from spmd.cluster.strangers import Refusals, Strangers
from spmd.cluster.wire import listen


@contextlib.contextmanager
def connected(count):
    """Strangers that have connected, and their lines, oldest first."""
    found = Strangers()
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(listen("127.0.0.1", 0))
        lines = []
        for _ in range(count):
            stack.enter_context(socket.create_connection(listener.getsockname(), 5.0))
            lines.append(stack.enter_context(contextlib.closing(found.accept(listener, 100))))
        yield found, lines


def test_the_oldest_go_when_they_are_too_many(monkeypatch):
    monkeypatch.setattr(strangers, "MOST", 2)
    with connected(4) as (found, lines):
        assert found.overdue() == lines[:2]
        found.forget(lines[0])
        found.forget(lines[3])
        assert found.overdue() == []
        assert {line.most_bytes for line in lines} == {100}


def test_each_has_some_time(monkeypatch):
    with connected(2) as (found, lines):
        assert found.overdue() == []
        monkeypatch.setattr(strangers, "ANSWER_SECONDS", 0.0)
        assert found.overdue() == lines


def test_not_too_many_refusals_are_told_of():
    said = []
    refusals = Refusals(said.append)
    for number in [0, 0, *range(30)]:
        refusals.tell(f"It is number {number}.", "sent somebody away.")
    assert said == [f"sent somebody away. It is number {number}." for number in range(10)]
