"""Replicas that take turns: in order, one at a time, and all ended by an error."""

import contextlib
import threading

import jax
import jax.numpy as jnp
import pytest

import spmd
from spmd.step.replica_threads import ReplicaThreads


class Log:
    """Replicas that note what happens."""

    def __init__(self, replicas):
        self.happened = []
        self.turns = ReplicaThreads(replicas, self.switch, lambda *_: None, contextlib.nullcontext)
        self.replicas = replicas

    def switch(self, last, following):
        self.happened.append(f"{last}>{following}")

    def run(self, code):
        return self.turns.run([lambda: code(self.turns)] * self.replicas)


def test_they_run_one_after_another_from_one_exchange_to_the_next():
    log = Log(3)

    def code(turns):
        for part in "ab":
            log.happened.append(f"{part}{turns.index}")
            turns.exchange("x", [jnp.int32(turns.index)])
        return turns.index

    assert log.run(code) == [0, 1, 2]
    first = ["a0", "0>1", "a1", "1>2", "a2", "2>0"]
    second = ["b0", "0>1", "b1", "1>2", "b2", "2>0"]
    assert log.happened == [*first, *second, "0>1", "1>2"]


def test_the_first_one_runs_in_the_thread_of_the_caller_and_none_is_left():
    before = threading.active_count()
    names = Log(2).run(lambda turns: threading.current_thread().name)
    assert names == [threading.current_thread().name, "replica 1"]
    assert threading.active_count() == before


@pytest.mark.parametrize("replica", [0, 1, 2])
def test_an_error_ends_all_and_keeps_its_place(replica):
    ended = []

    def code(turns):
        index = turns.index
        try:
            if index == replica:
                raise ZeroDivisionError("here")
            turns.exchange("x", [])
        finally:
            ended.append(index)

    with pytest.raises(ZeroDivisionError, match="here") as raised:
        Log(3).run(code)
    assert raised.traceback[-1].name == "code"
    assert raised.value.__notes__ == [f"Replica {replica} of 3 raised this, op by op."]
    assert replica in ended


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_ends_the_replicas(error):
    def code(turns):
        if turns.index:
            raise error
        turns.exchange("x", [])

    with pytest.raises(error):
        Log(2).run(code)


@pytest.mark.parametrize(
    ("waiting", "message"),
    [
        (
            [0],
            r"replica 0 is in x at .*test_replica_threads.py:\d+ \(code\), replica 1 has returned",
        ),
        ([1], r"replica 0 has returned, replica 1 is in x"),
    ],
)
def test_replicas_must_come_to_the_same_places(waiting, message):
    def code(turns):
        if turns.index in waiting:
            turns.exchange("x", [])

    with pytest.raises(spmd.errors.ReplicaContextError, match=message):
        Log(2).run(code)


def test_other_exchanges_are_other_places():
    with pytest.raises(spmd.errors.ReplicaContextError, match=r"0 is in x0 .* 1 is in x1"):
        Log(2).run(lambda turns: turns.exchange(f"x{turns.index}", []))


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap])
def test_what_jax_traces_has_nothing_to_exchange(transform):
    def code(turns):
        transform(lambda x: turns.exchange("x", [x])[0][0])(jnp.ones(2))

    with pytest.raises(spmd.errors.ReplicaContextError, match=r"calls x at .*disable_jit"):
        Log(1).run(code)


def test_a_replica_is_alone_in_its_contexts():
    shared, seen = {"value": None}, []

    @contextlib.contextmanager
    def holding(value):
        before, shared["value"] = shared["value"], value
        yield
        shared["value"] = before

    def code(turns):
        index = turns.index
        with turns.while_running(lambda: holding(index)):
            with turns.while_running(lambda: holding(index + 10)):
                turns.exchange("x", [])
                seen.append((index, shared["value"]))
            turns.exchange("x", [])
            seen.append((index, shared["value"]))
        seen.append((index, shared["value"]))

    Log(2).run(code)
    assert sorted(seen, key=str) == [(0, 0), (0, 10), (0, None), (1, 1), (1, 11), (1, None)]
