"""When to save because a process is to be ended, in one process."""

import threading

import pytest

from spmd.checkpoint.preemption import PreemptionSync
from spmd.errors import ClusterWaitError


@pytest.fixture
def asked(store):
    """Set when the processes have agreed; others have begun seven steps."""
    agreed = threading.Event()

    def answer(key, text):
        agreed.set()
        return (text, "7")

    store.answer = answer
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


def test_each_has_an_agreement_of_its_own(store):
    agreed = threading.Semaphore(0)

    def answer(key, text):
        agreed.release()
        return (text,)

    store.answer = answer
    for _ in range(2):
        with PreemptionSync(watch=lambda: True):
            assert agreed.acquire(timeout=60)
    assert len(set(store.keys)) == 2


def test_an_agreement_that_fails_is_told_of(store):
    failed = threading.Event()

    def answer(key, text):
        failed.set()
        raise ClusterWaitError("worker 1 is missing")

    store.answer = answer
    with PreemptionSync(watch=lambda: True) as sync:
        assert failed.wait(60)
        with pytest.raises(ClusterWaitError, match="worker 1"):
            sync.reached()
