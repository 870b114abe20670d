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


def test_a_program_waits_for_the_calls_of_others_and_lets_none_in():
    entered, go = threading.Event(), threading.Event()
    done: list[bool] = []

    def slow() -> None:
        entered.set()
        done.append(go.wait(10))

    thread = threading.Thread(target=call, args=(slow,))
    thread.start()
    assert entered.wait(10)
    timer = threading.Timer(0.1, go.set)
    timer.start()
    with kept_out(seconds=10):
        assert done == [True]
        with pytest.raises(ServerLostError, match="has left the cluster"):
            call(int)
    assert call(int) == 0
    thread.join(10)
    timer.join(10)


def test_it_does_not_wait_for_ever():
    go = threading.Event()
    thread = threading.Thread(target=call, args=(go.wait, 10))
    thread.start()
    with kept_out(seconds=0.05):
        assert thread.is_alive()
    go.set()
    thread.join(10)
