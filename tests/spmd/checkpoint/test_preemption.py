"""When to save because a process is to be ended, in one process."""

import threading

import pytest

from spmd.checkpoint import preemption
from spmd.checkpoint.preemption import PreemptionSync
from spmd.errors import ClusterWaitError


@pytest.fixture
def asked(monkeypatch):
    """Set when the processes have agreed; others have begun seven steps."""
    agreed = threading.Event()

    def gather(key, text, timeout):
        agreed.set()
        return (text, "7")

    monkeypatch.setattr(preemption, "all_gather_small", gather)
    return agreed


def begin_steps(sync):
    """Begins steps until one is to be saved before; gives its number."""
    return next(step for step in range(1, 100) if sync.reached())


def test_saves_before_the_first_step_that_none_has_begun(asked):
    with PreemptionSync(watch=lambda: False) as sync:
        assert [sync.reached() for _ in range(3)] == [False] * 3
        assert (sync.task, sync.told_at) == (None, None)
        sync.tell()
        assert asked.wait(60)
        assert begin_steps(sync) == 8 - 3
        assert sync.task == "worker 0"
        assert sync.told_at is not None


def test_agrees_again_in_a_last_round(asked):
    with PreemptionSync(watch=lambda: True) as sync:
        assert asked.wait(60)
        assert begin_steps(sync) == 8
        sync.begin_last_round()
        assert not sync.reached()
        asked.clear()
        sync.tell()
        assert asked.wait(60)
        assert begin_steps(sync) == 1


def test_each_has_an_agreement_of_its_own(monkeypatch):
    keys, agreed = [], threading.Semaphore(0)

    def gather(key, text, timeout):
        keys.append(key)
        agreed.release()
        return (text,)

    monkeypatch.setattr(preemption, "all_gather_small", gather)
    for _ in range(2):
        with PreemptionSync(watch=lambda: True):
            assert agreed.acquire(timeout=60)
    assert len(set(keys)) == 2


def test_an_agreement_that_fails_is_told_of(monkeypatch):
    failed = threading.Event()

    def gather(*_):
        failed.set()
        raise ClusterWaitError("worker 1 is missing")

    monkeypatch.setattr(preemption, "all_gather_small", gather)
    with PreemptionSync(watch=lambda: True) as sync:
        assert failed.wait(60)
        with pytest.raises(ClusterWaitError, match="worker 1"):
            sync.reached()
