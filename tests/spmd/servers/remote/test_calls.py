"""Threads that call Ray while a program leaves it."""

import threading

import pytest

from spmd.servers.remote.calls import call, kept_out
from spmd.servers.remote.errors import ServerLostError

pytest.importorskip("ray")


def test_a_call_returns_and_raises_what_the_function_does():
    assert call(int, "12", base=8) == 10
    with pytest.raises(ValueError, match="invalid literal"):
        call(int, "x")


def test_a_program_waits_for_the_calls_of_others_which_then_stand_still():
    entered, go = threading.Event(), threading.Event()
    events: list[str] = []

    def slow() -> None:
        entered.set()
        assert go.wait(10)
        events.append("slow ends")

    def late() -> None:
        with pytest.raises(ServerLostError, match="has left the cluster"):
            call(int)
        events.append("late is refused")

    def run() -> None:
        call(slow)
        events.append("slow goes on")

    threads = [threading.Thread(target=run), threading.Timer(0.1, go.set)]
    for thread in threads:
        thread.start()
    assert entered.wait(10)
    with kept_out(seconds=10):
        assert events == ["slow ends"]
        threads.append(threading.Thread(target=late))
        threads[-1].start()
        threads[-1].join(0.1)
        assert events == ["slow ends"]
        with pytest.raises(ServerLostError):  # as when this thread's collector ends a cluster
            call(int)
    for thread in threads:
        thread.join(10)
    assert sorted(events) == ["late is refused", "slow ends", "slow goes on"]
    assert call(int) == 0


def test_it_does_not_wait_for_ever():
    go = threading.Event()
    thread = threading.Thread(target=call, args=(go.wait, 10))
    thread.start()
    with kept_out(seconds=0.05):
        assert thread.is_alive()
    go.set()
    thread.join(10)
