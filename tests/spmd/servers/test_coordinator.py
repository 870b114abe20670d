"""Closures, handed out to workers."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from spmd.servers import CancelledClosureError, Coordinator, RemoteValue, WorkerLostError


class Worker:
    """Runs closures here; can be lost, and comes back."""

    def __init__(self, at_once: int = 1) -> None:
        self.at_once = at_once
        self.ran = 0
        self.batches: list[int] = []
        self.lose_next = False
        self.asked = 0
        self.back_after = 0
        self.useless: Exception | None = None

    def run(self, closures: Sequence[Callable[..., Any]], finish: Callable[[Any], None]) -> None:
        self.batches.append(len(closures))
        for closure in closures:
            if self.lose_next:
                self.lose_next = False
                raise WorkerLostError("gone")
            self.ran += 1
            finish(closure())

    def restore(self) -> bool:
        self.asked += 1
        if self.useless is not None:
            raise self.useless
        return self.asked > self.back_after


@pytest.fixture
def coordinate():
    made: list[Coordinator] = []

    def make(*workers: Worker, **options: Any) -> Coordinator:
        made.append(Coordinator(workers, **options))
        return made[-1]

    yield make
    for one in made:
        one.stop(wait_seconds=10)


def test_closures_run_side_by_side(coordinate):
    meet = threading.Barrier(2)
    coordinator = coordinate(Worker(), Worker())
    results = [coordinator.schedule(lambda: meet.wait(10)) for _ in range(2)]
    coordinator.join()
    assert sorted(result.get() for result in results) == [0, 1]


def test_join_and_done_wait_for_all(coordinate):
    coordinator, go = coordinate(Worker()), threading.Event()
    results = [coordinator.schedule(lambda: go.wait(10)) for _ in range(3)]
    assert not coordinator.done()
    go.set()
    coordinator.join()
    assert coordinator.done()
    assert all(result.done() for result in results)


def test_the_first_error_is_raised_once_and_cancels_what_waits(coordinate):
    coordinator, go = coordinate(Worker()), threading.Event()

    def fail() -> None:
        go.wait(10)
        raise ValueError("first")

    bad = coordinator.schedule(fail)
    waiting = [coordinator.schedule(lambda: 1) for _ in range(3)]
    go.set()
    with pytest.raises(ValueError, match="first"):
        coordinator.join()
    with pytest.raises(ValueError, match="first"):
        bad.get()
    for each in waiting:
        with pytest.raises(CancelledClosureError, match="an earlier one failed"):
            each.get()
    assert coordinator.schedule(lambda: 5).get() == 5  # and on it goes
    coordinator.join()


def test_schedule_raises_the_error_as_well(coordinate):
    coordinator = coordinate(Worker())

    def fail() -> None:
        raise ValueError("first")

    result = coordinator.schedule(fail)
    with pytest.raises(ValueError, match="first"):
        result.get(timeout=10)
    time.sleep(0.1)  # the queue hears of it after the result
    with pytest.raises(ValueError, match="first"):
        coordinator.schedule(lambda: None)


def test_what_a_lost_worker_was_running_runs_elsewhere(coordinate):
    lost, other = Worker(), Worker()
    lost.lose_next, lost.back_after = True, 10**6
    coordinator = coordinate(lost, other)
    results = [coordinator.schedule(lambda n=n: n) for n in range(10)]
    coordinator.join()
    assert [result.get() for result in results] == list(range(10))
    assert other.ran + lost.ran == 10


def test_a_worker_that_is_back_goes_on(coordinate):
    worker = Worker()
    worker.lose_next, worker.back_after = True, 1
    coordinator = coordinate(worker)
    assert coordinator.schedule(lambda: 1).get(timeout=30) == 1
    assert worker.asked == 2


def test_a_closure_that_ends_its_workers_is_an_error_at_last(coordinate):
    worker = Worker()

    def end() -> None:
        raise WorkerLostError("out of memory")

    coordinator = coordinate(worker)
    deadly, waiting = coordinator.schedule(end), coordinator.schedule(lambda: 1)
    with pytest.raises(WorkerLostError, match=r"10 workers were lost .* out of memory"):
        deadly.get(timeout=30)
    with pytest.raises(WorkerLostError, match="the same closure"):
        coordinator.join()
    with pytest.raises(CancelledClosureError):
        waiting.get(timeout=10)
    assert worker.ran == 10
    assert coordinator.schedule(lambda: 2).get(timeout=10) == 2


def test_what_makes_it_useless_to_wait_for_a_worker_is_raised(coordinate):
    worker = Worker()
    worker.lose_next, worker.useless = True, ConnectionError("a server is gone")
    coordinator = coordinate(worker)
    waiting = coordinator.schedule(lambda: 1)
    with pytest.raises(ConnectionError, match="a server is gone"):
        coordinator.join()
    with pytest.raises(CancelledClosureError):
        waiting.get(timeout=10)


@pytest.mark.parametrize("leave", [SystemExit(3), KeyboardInterrupt()])
def test_a_closure_ends_neither_its_worker_nor_the_program(coordinate, leave):
    coordinator = coordinate(Worker())

    def end() -> None:
        raise leave

    coordinator.schedule(end)
    with pytest.raises(RuntimeError, match=f"raised {type(leave).__name__}") as caught:
        coordinator.join()
    assert caught.value.__cause__ is leave
    assert coordinator.schedule(lambda: 2).get(timeout=10) == 2


@pytest.mark.parametrize("max_staleness", [0, 1, 3])
def test_staleness_is_bounded(coordinate, max_staleness):
    coordinator = coordinate(*(Worker(at_once=4) for _ in range(4)), max_staleness=max_staleness)
    lock, ended, missed = threading.Lock(), [], []

    def run(number: int) -> int:
        with lock:
            before = len(ended)
        time.sleep(0.05 if number % 7 == 0 else 0.001)
        with lock:
            missed.append(len(ended) - before)
            ended.append(number)
        return number

    results = [coordinator.schedule(run, (number,)) for number in range(40)]
    coordinator.join()
    assert [result.get() for result in results] == list(range(40))
    assert max(missed) <= max_staleness
    meet = threading.Barrier(max_staleness + 1)  # so many run at once
    for _ in range(max_staleness + 1):
        coordinator.schedule(lambda: meet.wait(10))
    coordinator.join()
    if max_staleness == 0:
        assert ended == list(range(40))


def test_bounded_staleness_waits_for_results_and_outlives_a_worker(coordinate):
    lost = Worker()
    lost.lose_next = True
    coordinator = coordinate(lost, Worker(), max_staleness=1)
    first = coordinator.schedule(lambda: 1)
    second = coordinator.schedule(lambda value: value + 1, (first,))
    coordinator.join()
    assert second.get() == 2


def test_a_closure_does_not_go_together_with_one_that_needs_its_result(coordinate):
    worker = Worker(at_once=16)
    coordinator = coordinate(worker)
    with coordinator._changed:  # the worker sees them all at once
        first = coordinator.schedule(lambda: 1)
        second = coordinator.schedule(lambda value: value + 1, (first,))
        others = [coordinator.schedule(lambda: 0) for _ in range(6)]
    assert second.get(timeout=10) == 2
    assert [one.get(timeout=10) for one in others] == [0] * 6
    assert worker.batches[0] == 1
    assert max(worker.batches) > 1


@pytest.mark.parametrize("error", [ValueError("no data"), WorkerLostError("no memory")])
def test_a_closure_whose_argument_failed_fails_after_those_before_it(coordinate, error):
    worker, ran, failed = Worker(at_once=16), [], RemoteValue()
    failed.fail(error)
    coordinator = coordinate(worker)
    with coordinator._changed:  # the worker sees them all at once
        before = [coordinator.schedule(ran.append, (number,)) for number in range(2)]
        needs = coordinator.schedule(ran.append, (failed,))
        after = [coordinator.schedule(ran.append, (number,)) for number in range(9)]
    with pytest.raises(type(error), match="no "):
        coordinator.join()
    assert [one.get(timeout=10) for one in before] == [None, None]
    with pytest.raises(type(error), match="no "):
        needs.get(timeout=10)
    for one in after:
        with pytest.raises(CancelledClosureError):
            one.get(timeout=10)
    assert (ran, worker.batches, worker.asked) == ([0, 1], [2], 0)


def test_no_worker_waits_for_a_result_that_a_lost_one_owes(coordinate):
    workers, fail = (Worker(), Worker()), threading.Event()
    for worker in workers:
        worker.back_after = 10**6  # whichever of them is lost
    tried: list[int] = []

    def first() -> int:
        tried.append(1)
        if len(tried) == 1:
            fail.wait(10)
            raise WorkerLostError("gone")
        return 1

    coordinator = coordinate(*workers)
    one = coordinator.schedule(first)
    two = coordinator.schedule(lambda value: value + 1, (one,))
    time.sleep(0.1)  # the other worker is free, and may not take what needs the result
    fail.set()
    assert two.get(timeout=10) == 2


def test_an_idle_worker_hears_of_a_closure_behind_other_threads_that_wait(coordinate):
    coordinator, waits, stop = coordinate(Worker()), threading.Event(), threading.Event()

    def wait() -> None:  # as for a lost worker
        with coordinator._changed:
            waits.set()
            coordinator._changed.wait_for(stop.is_set, 30)

    thread = threading.Thread(target=wait)
    thread.start()
    waits.wait(10)
    time.sleep(0.1)
    with coordinator._changed:
        coordinator._changed.notify()  # the worker, which waits behind the thread from here on
    time.sleep(0.1)
    assert coordinator.schedule(lambda: 2).get(timeout=5) == 2
    stop.set()
    coordinator.stop()
    thread.join()


def test_stop_cancels_what_waits(coordinate):
    coordinator, go, started = coordinate(Worker()), threading.Event(), threading.Event()

    def run() -> int:
        started.set()
        go.wait(10)
        return 1

    running, waiting = coordinator.schedule(run), coordinator.schedule(lambda: 2)
    started.wait(10)
    coordinator.stop()
    go.set()
    assert running.get(timeout=10) == 1
    with pytest.raises(CancelledClosureError):
        waiting.get(timeout=10)


def test_it_counts_closures_that_a_lost_worker_had(coordinate):
    worker = Worker()
    worker.lose_next = True
    coordinator = coordinate(worker)
    coordinator.schedule(lambda: 1)
    coordinator.join()
    assert (coordinator.lost, worker.ran) == (1, 1)


def test_waiting_for_one_of_several(coordinate):
    ends = threading.Event()
    coordinator = coordinate(Worker(), Worker())
    slow, fast = coordinator.schedule(ends.wait), coordinator.schedule(lambda: 1)
    coordinator.wait([slow, fast])
    assert (slow.done(), fast.done()) == (False, True)
    ends.set()
    failing = coordinator.schedule(lambda: 1 / 0)
    coordinator.wait([failing])
    assert failing.has_failed()
    assert not fast.has_failed()
    with pytest.raises(ZeroDivisionError):
        coordinator.join()
