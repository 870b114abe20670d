"""Where map functions are called: here, or in other processes."""

import copy
import pickle

import numpy as np
import pytest

from spmd.input.pipeline import processes
from spmd.input.pipeline.map_function import MapFunction, Sending
from spmd.input.pipeline.messages import EndedError
from spmd.input.pipeline.processes import Elsewhere, FailedError, Workers


def halved(x):
    return np.asarray(x) / np.float32(2)


def made():
    return MapFunction(halved, None, Sending(pickled, lambda: True, int, lambda _: None))


def pickled():
    return pickle.dumps(made)


class FakeWorkers:
    """Answers at once, or fails."""

    def __init__(self, answer="there"):
        self.answer, self.ready, self.asked = answer, True, 0

    def are_ready(self):
        return self.ready

    def call(self, functions, kind, given, full):
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def fake(monkeypatch):
    workers = FakeWorkers()
    monkeypatch.setattr(processes, "shared_workers", lambda count: workers)
    monkeypatch.setenv("JAXTRIBUTE_MAP_PROCESSES", "2")
    return workers


def called(elsewhere, function, here=lambda: "here"):
    return elsewhere.call([function], "one", np.ones(2), 1, 2, here)


def test_processes_take_over_once_they_are_ready(fake):
    elsewhere, function = Elsewhere(), made()
    fake.ready = False
    assert called(elsewhere, function) == "here"
    fake.ready = True
    assert called(elsewhere, function) == "there"


@pytest.mark.parametrize("error", [FailedError("no"), EndedError()])
def test_where_processes_fail_functions_are_called_here_for_good(fake, error, caplog):
    elsewhere, function = Elsewhere(), made()
    fake.answer = error
    assert [called(elsewhere, function) for _ in range(3)] == ["here"] * 3
    assert fake.asked == 1
    assert "Processes no longer call a map function" in caplog.text


def test_an_exception_is_raised_here_and_processes_go_on(fake):
    def here():
        raise KeyError("of the user")

    elsewhere, function = Elsewhere(), made()
    fake.answer = FailedError("KeyError()")
    with pytest.raises(KeyError, match="of the user"):
        called(elsewhere, function, here)
    fake.answer = "there"
    assert called(elsewhere, function) == "there"


def test_functions_that_cannot_be_sent_or_read_what_changed_are_called_here(fake):
    assert called(Elsewhere(), MapFunction(halved)) == "here"
    changed = Sending(pickled, lambda: False, int, lambda _: None)
    assert called(Elsewhere(), MapFunction(halved, None, changed)) == "here"
    assert fake.asked == 0


def test_without_the_variable_only_long_calls_of_waiting_threads_start_processes(fake, monkeypatch):
    monkeypatch.delenv("JAXTRIBUTE_MAP_PROCESSES")
    clock = {"wall": 0.0, "computing": 0.0}
    monkeypatch.setattr(processes.time, "perf_counter", lambda: clock["wall"])
    monkeypatch.setattr(processes.time, "thread_time", lambda: clock["computing"])

    def calls(count, wall, computing):
        def here():
            clock["wall"] += wall
            clock["computing"] += computing
            return "here"

        elsewhere, function = Elsewhere(), made()
        return [called(elsewhere, function, here) for _ in range(count)][-1]

    assert calls(30, 1.0, 0.5) == "there"
    assert calls(15, 1.0, 0.5) == "here"  # not long
    assert calls(30, 1.0, 0.95) == "here"  # threads do not wait
    assert calls(30, 1.0, 0.001) == "here"  # they wait for something else
    monkeypatch.setenv("JAXTRIBUTE_MAP_PROCESSES", "0")
    assert calls(30, 1.0, 0.5) == "here"


def test_a_copy_begins_anew(fake):
    elsewhere = Elsewhere()
    called(elsewhere, made())
    assert isinstance(copy.copy(elsewhere), Elsewhere)
    assert called(copy.copy(elsewhere), made()) == "there"


@pytest.mark.slow
def test_real_processes():
    workers = Workers(2)
    children = [worker.process for worker in workers._workers]
    while not workers.are_ready():
        pass
    function = made()
    result = workers.call([function], "many", [np.float32(3), np.float32(4)], 2)
    assert (result.tolist(), result.dtype) == ([1.5, 2], np.float32)
    for child in children:
        child.kill()
        child.wait()
    with pytest.raises(EndedError):
        workers.call([function], "one", np.float32(3), 1)
    assert workers.is_broken
    del workers
    assert [child.poll() is not None for child in children] == [True, True]
