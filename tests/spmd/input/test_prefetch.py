"""The thread that works ahead: in order, bounded, and gone when nobody wants batches any more."""

import gc
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "spmd-input"]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


class Recorder:
    """An endless source that tells how far it was read, and whether it was closed."""

    def __init__(self) -> None:
        self.made = 0
        self.closed = False
        self.thread: threading.Thread | None = None

    def __call__(self) -> Iterator[np.ndarray]:
        self.thread = threading.current_thread()
        try:
            while True:
                self.made += 1
                yield np.full(2, self.made)
        finally:
            self.closed = True


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_at_most_so_many_batches_wait(mesh_of: MeshOf, ahead: int) -> None:
    source = Recorder()
    with iter(spmd.distribute(source, mesh_of(2), prefetch=ahead)) as batches:
        for taken in range(4):
            # The thread works before anybody asks, then waits for room.
            wait_until(lambda taken=taken: source.made == taken + ahead)
            time.sleep(0.02)
            assert source.made == taken + ahead
            assert next(batches).array.tolist() == [taken + 1] * 2
    assert source.thread is not None
    assert source.thread.name == "spmd-input"
    assert source.thread.daemon


def test_without_prefetch_there_is_no_thread(mesh_of: MeshOf) -> None:
    source = Recorder()
    with iter(spmd.distribute(source, mesh_of(2), prefetch=0)) as batches:
        for taken in range(3):
            assert source.made == taken
            next(batches)
        assert source.thread is threading.current_thread()
        assert not workers()
    assert source.closed
    with pytest.raises(StopIteration):
        next(batches)


def test_batches_are_made_while_others_are_used(mesh_of: MeshOf) -> None:
    used = threading.Event()

    def source() -> Iterator[np.ndarray]:
        yield np.zeros(2)
        # Goes on only if the first batch is used meanwhile.
        assert used.wait(120)
        yield np.ones(2)

    batches = iter(spmd.distribute(source, mesh_of(2)))
    assert next(batches).array.tolist() == [0, 0]
    used.set()
    assert next(batches).array.tolist() == [1, 1]
    assert list(batches) == []


def leave_by_break(batches: Any) -> None:
    for _ in batches:
        break


def leave_by_exception(batches: Any) -> None:
    def loop() -> None:
        for _ in batches:
            raise KeyError

    with pytest.raises(KeyError):
        loop()


def leave_by_del(batches: Any) -> None:
    iterator = iter(batches)
    next(iterator)
    assert len(workers()) == 1
    del iterator


def leave_by_close(batches: Any) -> None:
    iterator = iter(batches)
    next(iterator)
    iterator.close()
    iterator.close()
    with pytest.raises(StopIteration):
        next(iterator)


def leave_by_with(batches: Any) -> None:
    with iter(batches) as iterator:
        next(iterator)
    assert not workers()
    with pytest.raises(StopIteration):
        next(iterator)


def leave_before_the_first(batches: Any) -> None:
    iter(batches)


def leave_in_a_cycle(batches: Any) -> None:
    holder: dict[str, Any] = {"iterator": iter(batches)}
    holder["self"] = holder
    next(holder["iterator"])
    gc.disable()  # a collection may come at any time
    del holder
    try:
        assert len(workers()) == 1
    finally:
        gc.enable()
    gc.collect()


@pytest.mark.parametrize(
    "leave",
    [
        leave_by_break,
        leave_by_exception,
        leave_by_del,
        leave_by_close,
        leave_by_with,
        leave_before_the_first,
        leave_in_a_cycle,
    ],
)
def test_leaving_early_ends_the_thread_and_closes_the_source(
    mesh_of: MeshOf, leave: Callable[[Any], None]
) -> None:
    source = Recorder()
    batches = spmd.distribute(source, mesh_of(2))
    leave(batches)
    assert not workers()
    # A generator that never began has nothing to close.
    assert source.closed or source.made == 0


def test_a_pass_that_ends_leaves_no_thread(mesh_of: MeshOf) -> None:
    batches = iter(spmd.distribute(np.arange(8), mesh_of(2), batch_size=2))
    assert len(list(batches)) == 4
    assert not workers()
    assert next(batches, None) is None


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_errors_of_the_pipeline_keep_their_traceback(mesh_of: MeshOf, prefetch: int) -> None:
    raised = ValueError("broken record")

    def users_decoder() -> None:
        raise raised

    def source() -> Iterator[np.ndarray]:
        yield np.ones(2)
        yield np.ones(2)
        users_decoder()

    batches = iter(spmd.distribute(source, mesh_of(2), prefetch=prefetch))
    # What was made before the error is handed out first.
    next(batches)
    next(batches)
    with pytest.raises(ValueError, match="broken record") as caught:
        next(batches)
    assert caught.value is raised
    names = [frame.name for frame in traceback.extract_tb(raised.__traceback__)]
    assert names[-2:] == ["source", "users_decoder"]
    assert names[0] == "test_errors_of_the_pipeline_keep_their_traceback"
    assert next(batches, None) is None
    assert not workers()


def test_a_generator_function_that_fails_at_once(mesh_of: MeshOf) -> None:
    def users_function() -> Iterator[np.ndarray]:
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file") as caught:
        list(spmd.distribute(users_function, mesh_of(2)))
    assert "users_function" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]


def test_a_pass_after_an_error_starts_anew(mesh_of: MeshOf) -> None:
    attempts: list[int] = []

    def source() -> Iterator[np.ndarray]:
        attempts.append(1)
        yield np.ones(2)
        if len(attempts) == 1:
            raise OSError("try again")

    batches = spmd.distribute(source, mesh_of(2))
    with pytest.raises(OSError, match="try again"):
        list(batches)
    assert len(list(batches)) == 1


def test_a_stuck_source_does_not_hang_the_loop_for_long(
    mesh_of: MeshOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spmd.input.prefetch._JOIN_SECONDS", 0.05)
    go_on = threading.Event()

    def source() -> Iterator[np.ndarray]:
        yield np.ones(2)
        go_on.wait(10)

    for _ in spmd.distribute(source, mesh_of(2)):
        break
    assert len(workers()) == 1
    go_on.set()
    wait_until(lambda: not workers())


def test_batches_that_wait_are_let_go_of(mesh_of: MeshOf) -> None:
    source = Recorder()
    batches = iter(spmd.distribute(source, mesh_of(2), prefetch=3))
    wait_until(lambda: source.made == 3)
    batches.close()
    assert len(batches._batches._buffer._batches) == 0  # pyright: ignore


def test_a_training_loop(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x: spmd.all_reduce((x * spmd.valid_rows(x)).sum()), mesh_of(4))
    data = np.arange(50, dtype=np.float32)
    batches = spmd.distribute(data, step.mesh, batch_size=16)
    for _ in range(2):
        assert sum(float(step(batch)) for batch in batches) == data.sum()
    assert step.trace_count == 1
