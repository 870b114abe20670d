"""The notice that a process will be ended, in one process."""

import os
import signal
import threading

import pytest

from spmd.cluster.notice import Notice

SECONDS = 60  # longer than it ever takes


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
    for notice in reversed(made):
        notice.close()


def test_sigterm_is_a_notice(make, heard):
    notice = make(heard)
    assert notice.told_at is None
    os.kill(os.getpid(), signal.SIGTERM)
    assert heard.wait() == ["worker 0"]
    assert notice.told_at is not None


def test_a_function_is_asked_until_it_says_yes(make, heard):
    answers = iter([False, True])
    notice = make(heard, watch=lambda: next(answers), sigterm=False)
    assert heard.wait() == ["worker 0"]
    assert notice.told_at is not None


def test_sigterm_reaches_all_that_listen(make):
    first, second = Heard(), Heard()
    make(first)
    make(second)
    os.kill(os.getpid(), signal.SIGTERM)
    assert first.wait() == second.wait() == ["worker 0"]


def test_the_signal_is_given_back(make, heard):
    before = signal.getsignal(signal.SIGTERM)
    notice = make(heard)
    assert signal.getsignal(signal.SIGTERM) != before
    notice.close()
    assert signal.getsignal(signal.SIGTERM) == before
    assert heard.tasks == []


def test_a_notice_comes_once(make, heard):
    notice = make(heard, sigterm=False)
    notice.tell()
    notice.tell()
    assert heard.wait() == ["worker 0"]
    notice.close()
    assert heard.tasks == ["worker 0"]
