"""Where map functions are called: here, or in other processes."""

import copy
import os
import pickle
import resource
import socket
import threading

import numpy as np
import pytest

from spmd.input.pipeline import processes
from spmd.input.pipeline.map_function import MapFunction, Sending
from spmd.input.pipeline.messages import EndedError
from spmd.input.pipeline.processes import FailedError, Offloader, Workers
from spmd.input.pipeline.worker_process import main


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


def called(offloader, function, here=lambda: "here"):
    return offloader.call([function], "one", np.ones(2), 1, 2, here)


def test_processes_take_over_once_they_are_ready(fake):
    offloader, function = Offloader(), made()
    fake.ready = False
    assert called(offloader, function) == "here"
    fake.ready = True
    assert called(offloader, function) == "there"


@pytest.mark.parametrize("error", [FailedError("no"), EndedError()])
def test_where_processes_fail_functions_are_called_here_for_good(fake, error, caplog):
    offloader, function = Offloader(), made()
    fake.answer = error
    assert [called(offloader, function) for _ in range(3)] == ["here"] * 3
    assert fake.asked == 1
    assert "Processes no longer call a map function" in caplog.text


def test_an_exception_is_raised_here_and_processes_go_on(fake):
    def here():
        raise KeyError("of the user")

    offloader, function = Offloader(), made()
    fake.answer = FailedError("KeyError()")
    with pytest.raises(KeyError, match="of the user"):
        called(offloader, function, here)
    fake.answer = "there"
    assert called(offloader, function) == "there"


def test_functions_that_cannot_be_sent_or_read_what_changed_are_called_here(fake):
    assert called(Offloader(), MapFunction(halved)) == "here"
    changed = Sending(pickled, lambda: False, int, lambda _: None)
    assert called(Offloader(), MapFunction(halved, None, changed)) == "here"
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

        offloader, function = Offloader(), made()
        return [called(offloader, function, here) for _ in range(count)][-1]

    assert calls(30, 1.0, 0.5) == "there"
    assert calls(15, 1.0, 0.5) == "here"  # not long
    assert calls(30, 1.0, 0.95) == "here"  # threads do not wait
    assert calls(30, 1.0, 0.001) == "here"  # they wait for something else
    monkeypatch.setenv("JAXTRIBUTE_MAP_PROCESSES", "0")
    assert calls(30, 1.0, 0.5) == "here"


def test_a_copy_begins_anew(fake):
    offloader = Offloader()
    called(offloader, made())
    assert isinstance(copy.copy(offloader), Offloader)
    assert called(copy.copy(offloader), made()) == "there"


@pytest.mark.parametrize("text", ["-1", "many", "1.5", "10000000"])
def test_the_variable_has_to_be_a_number(monkeypatch, text):
    monkeypatch.setenv("JAXTRIBUTE_MAP_PROCESSES", text)
    with pytest.raises(ValueError, match=f"but JAXTRIBUTE_MAP_PROCESSES is '{text}'. Write"):
        Offloader()


def test_an_empty_variable_says_nothing(monkeypatch, fake):
    monkeypatch.setenv("JAXTRIBUTE_MAP_PROCESSES", "")
    assert called(Offloader(), made()) == "here"


class Thread(threading.Thread):
    """Serves as a process does."""

    def __init__(self, command, pass_fds, **rest):
        self._other = os.dup(pass_fds[0])
        super().__init__(target=main, args=[self._other])
        self.start()

    def kill(self):
        if self.is_alive():
            with socket.socket(fileno=os.dup(self._other)) as other:
                other.shutdown(socket.SHUT_RDWR)

    def wait(self):
        self.join()


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setattr(processes.subprocess, "Popen", Thread)
    monkeypatch.setattr("spmd.input.pipeline.worker_process._end_with_parent", lambda: None)
    workers = Workers(1)
    wait_for(workers)
    yield workers
    workers.close()


def wait_for(workers):
    while not workers.are_ready():
        pass


def half_of(workers, number, function=None):
    return workers.call([function or made()], "one", np.float32(number), 1)


def test_a_process_is_called(workers):
    assert half_of(workers, 3) == 1.5
    batch = workers.call([made()], "many", [np.float32(3), np.float32(4)], 2)
    assert (batch.tolist(), batch.dtype) == ([1.5, 2], np.float32)
    with pytest.raises(FailedError, match="not supported"):
        workers.call([made()], "one", b"text", 1)
    assert half_of(workers, 5) == 2.5
    assert not workers.is_broken


@pytest.mark.parametrize(
    ("error", "raised"),
    [(KeyboardInterrupt(), KeyboardInterrupt), (OSError("no room"), EndedError)],
)
def test_after_an_answer_that_was_not_read_the_process_is_not_called_again(
    workers, monkeypatch, error, raised
):
    def receive(source):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(processes, "receive", receive)
        with pytest.raises(raised):
            half_of(workers, 3)
    assert workers.is_broken
    with pytest.raises(EndedError):
        half_of(workers, 5)


def test_processes_keep_a_number_of_functions(workers, monkeypatch):
    monkeypatch.setattr(processes, "_MAX_KNOWN", 2)
    sent = []

    def counted(name):
        def pickled_and_counted():
            sent.append(name)
            return pickled()

        return MapFunction(halved, None, Sending(pickled_and_counted, None, int, None))

    first, second, third = map(counted, "abc")
    for function in (first, second, first, third, third, first):
        assert half_of(workers, 3, function) == 1.5
    assert sent == ["a", "b", "c", "a"]


def test_a_fork_neither_calls_nor_ends_the_processes_of_its_parent(workers, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        assert not workers.are_ready()
        processes._end(workers._workers, workers._parent)
    assert half_of(workers, 3) == 1.5


def test_many_open_files_do_no_harm(workers):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    (worker,) = workers._workers
    original = worker._socket
    try:
        os.dup2(original.fileno(), 1900)
        with socket.socket(fileno=1900) as high:
            worker._socket, worker._is_ready = high, False
            assert not worker.is_ready()
    finally:
        worker._socket = original
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_of_processes_that_cannot_all_start_none_remains(monkeypatch):
    started = []

    class Second(Thread):
        def __init__(self, *args, **options):
            if started:
                raise BlockingIOError("too many processes")
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(processes.subprocess, "Popen", Second)
    monkeypatch.setattr("spmd.input.pipeline.worker_process._end_with_parent", lambda: None)
    with pytest.raises(BlockingIOError):
        Workers(2)
    assert not started[0].is_alive()


@pytest.mark.slow
def test_real_processes(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise ImportError('a file of the current folder')")
    monkeypatch.chdir(tmp_path)
    workers = Workers(2)
    first, second = (worker.process for worker in workers._workers)
    wait_for(workers)
    function = made()
    result = workers.call([function], "many", [np.float32(3), np.float32(4)], 2)
    assert (result.tolist(), result.dtype) == ([1.5, 2], np.float32)
    second.kill()
    second.wait()
    with pytest.raises(EndedError):
        half_of(workers, 3, function)
    assert workers.is_broken
    assert first.poll() is None
    del workers
    assert first.poll() is not None
