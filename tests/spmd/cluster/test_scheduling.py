"""The policy of batch work, tried in threads that end with their test."""

import os
import threading

import pytest

from spmd.cluster.scheduling import schedule_as_batch, schedule_as_usual
from tests.policies import needs_batch


def _in_a_thread(function):
    """Runs a function in a thread of its own; gives its result."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@needs_batch
def test_a_thread_changes_once_and_back():
    def change():
        changed = schedule_as_batch(), schedule_as_batch()
        policy = os.sched_getscheduler(0)
        schedule_as_usual()
        return changed, policy, os.sched_getscheduler(0)

    assert _in_a_thread(change) == ((True, False), os.SCHED_BATCH, os.SCHED_OTHER)


@needs_batch
def test_threads_inherit_it():
    def start():
        schedule_as_batch()
        return _in_a_thread(lambda: os.sched_getscheduler(0))

    assert _in_a_thread(start) == os.SCHED_BATCH


@needs_batch
def test_a_thread_that_has_ended_stays_as_it_was():
    assert not schedule_as_batch(2**22 + 1)  # above the largest number of a thread


@pytest.mark.parametrize("refused", ["sched_getscheduler", "sched_setscheduler"])
@needs_batch
def test_a_sandbox_may_refuse(monkeypatch, refused: str):
    def refuse(*arguments):
        raise PermissionError("of the sandbox")

    with monkeypatch.context() as patch:
        patch.setattr(os, refused, refuse)
        assert not _in_a_thread(schedule_as_batch)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


@needs_batch
def test_the_environment_may_forbid_it(monkeypatch):
    monkeypatch.setenv("JAXTRIBUTE_BATCH_THREADS", "0")
    assert not _in_a_thread(schedule_as_batch)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_other_systems_have_no_such_policy(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    assert not _in_a_thread(schedule_as_batch)
    schedule_as_usual()
