"""SIGTERM that a thread hears of, in one process; tests/multiprocess blocks the main thread in a step."""

import os
import signal
import socket
import threading

import pytest

from spmd.cluster.sigterm import Sigterm

SECONDS = 60  # longer than it ever takes


@pytest.fixture
def take():
    """Takes SIGTERM over, and gives it back in the end."""
    taken = []

    def take(act, **options):
        taken.append(Sigterm(act, **options))
        return taken[-1]

    yield take
    for one in taken:
        one.close()


@pytest.fixture
def wakeup():
    """A file of the script's own that signals wake, as asyncio's."""
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    reading.settimeout(SECONDS)
    former = signal.set_wakeup_fd(writing.fileno())
    yield reading, writing
    signal.set_wakeup_fd(former)
    reading.close()
    writing.close()


def end():
    os.kill(os.getpid(), signal.SIGTERM)


def test_another_thread_acts(take):
    heard, threads = threading.Event(), []

    def act():
        threads.append(threading.current_thread().name)
        heard.set()

    take(act)
    end()
    assert heard.wait(SECONDS)
    assert set(threads) == {"spmd-sigterm"}


def test_what_ends_the_process_waits_until_nobody_else_listens(take):
    first, second, ended = threading.Event(), threading.Event(), threading.Event()
    take(ended.set, ends=True)
    others = [take(first.set), take(second.set)]
    end()
    assert first.wait(SECONDS)
    assert second.wait(SECONDS)
    assert not ended.is_set()
    for one in others:
        one.close()
    end()
    assert ended.wait(SECONDS)


def test_a_later_handler_of_the_script_replaces_it(take):
    heard, own = [], []
    take(lambda: heard.append(True))
    former = signal.signal(signal.SIGTERM, lambda *_: own.append(True))
    end()
    signal.signal(signal.SIGTERM, former)
    assert own == [True]
    assert heard == []


def test_all_is_given_back_in_any_order(wakeup, take):
    before = signal.getsignal(signal.SIGTERM)
    first, second = take(lambda: None), take(lambda: None)
    first.close()
    assert signal.getsignal(signal.SIGTERM) != before
    second.close()
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.set_wakeup_fd(wakeup[1].fileno()) == wakeup[1].fileno()


def test_a_file_that_signals_wake_already_goes_on(wakeup, take):
    heard = threading.Event()
    take(heard.set)
    end()
    assert heard.wait(SECONDS)
    assert wakeup[0].recv(10) == bytes([signal.SIGTERM])


def test_a_file_that_replaces_it(wakeup, take):
    heard = threading.Event()
    one = take(heard.set)
    signal.set_wakeup_fd(wakeup[1].fileno())
    end()
    assert heard.wait(SECONDS)
    one.close()
    assert signal.set_wakeup_fd(wakeup[1].fileno()) == wakeup[1].fileno()


def test_another_thread_than_the_main_one_cannot_take_it(take):
    errors = []

    def try_it():
        try:
            take(lambda: None)
        except ValueError as error:
            errors.append(str(error))

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    assert "main thread" in errors[0]


def test_a_forked_child_ends_and_the_parent_hears_nothing(run_python):
    """As the reader processes of a dataset, which their parent ends so."""
    run_python(
        "-c",
        "import os, signal, threading\n"
        "from spmd.cluster.sigterm import Sigterm\n"
        "heard = []\n"
        "one = Sigterm(lambda: heard.append(1))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    os._exit(1)\n"
        "assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM\n"
        "one.close()\n"
        "assert heard == []\n"
        "assert 'spmd-sigterm' not in [thread.name for thread in threading.enumerate()]\n",
    )
