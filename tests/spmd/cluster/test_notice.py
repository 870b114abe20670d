"""The notice that a process will be ended, in one process."""

import os
import signal
import threading

import jax
import pytest

from spmd.cluster import notice, store
from spmd.cluster.notice import Notice

SECONDS = 60  # longer than it ever takes


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch):
    monkeypatch.setattr(notice, "_POLL_SECONDS", 0.01)


class Heard:
    def __init__(self):
        self.tasks, self._event = [], threading.Event()

    def __call__(self, task):
        self.tasks.append(task)
        self._event.set()

    def wait(self):
        assert self._event.wait(SECONDS)
        return self.tasks


@pytest.fixture
def heard():
    return Heard()


@pytest.fixture
def make():
    """Makes notices, and closes them in the end."""
    made = []

    def make(*args, **options):
        made.append(Notice(*args, **options))
        return made[-1]

    yield make
    for one in reversed(made):
        one.close()


def test_sigterm_is_a_notice(make, heard):
    one = make(heard)
    assert one.told_at is None
    os.kill(os.getpid(), signal.SIGTERM)
    assert heard.wait() == ["worker 0"]
    assert one.told_at is not None


def test_a_function_is_asked_until_it_says_yes(make, heard):
    answers = iter([False, True])
    one = make(heard, watch=lambda: next(answers), sigterm=False)
    assert heard.wait() == ["worker 0"]
    assert one.told_at is not None


def test_a_function_that_fails_is_asked_again(make, heard, caplog):
    answers = iter([OSError("no route"), OSError("no route"), True])

    def watch():
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    make(heard, watch=watch, sigterm=False)
    assert heard.wait() == ["worker 0"]
    assert caplog.text.count("OSError('no route')") == 1


@pytest.mark.parametrize("name", ["put", "peek"])
def test_a_store_that_fails_is_asked_again(make, heard, monkeypatch, caplog, name):
    real, failures = (
        getattr(store.current(), name),
        iter([jax.errors.JaxRuntimeError("UNAVAILABLE")]),
    )

    def once(*args):
        for failure in failures:
            raise failure
        return real(*args)

    monkeypatch.setattr(store.current(), name, once)
    make(heard)
    os.kill(os.getpid(), signal.SIGTERM)
    assert heard.wait() == ["worker 0"]
    assert "UNAVAILABLE" in caplog.text


def test_sigterm_reaches_all_that_listen(make):
    first, second = Heard(), Heard()
    make(first)
    make(second)
    os.kill(os.getpid(), signal.SIGTERM)
    assert first.wait() == second.wait() == ["worker 0"]


def test_the_signal_is_given_back(make, heard):
    before = signal.getsignal(signal.SIGTERM)
    one = make(heard)
    assert signal.getsignal(signal.SIGTERM) != before
    one.close()
    assert signal.getsignal(signal.SIGTERM) == before
    assert heard.tasks == []


def test_a_notice_comes_once(make, heard):
    one = make(heard, sigterm=False)
    one.tell()
    one.tell()
    assert heard.wait() == ["worker 0"]
    one.close()
    assert heard.tasks == ["worker 0"]
