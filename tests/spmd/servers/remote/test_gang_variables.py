"""Variables of a gang: fetched when they are read, sent when they were written; here the gang is a function."""

import threading

import jax
import numpy as np
import pytest

import spmd
from spmd.servers.remote.gang_variables import GangVariables, write

pytest.importorskip("ray")


class Gang:
    """Keeps what it knows of variables in this process, and counts what is fetched."""

    def __init__(self):
        self.values: dict[int, np.ndarray] = {}
        self.fetched: list[int] = []

    def call(self, read):
        variables = read._wanted
        self.fetched.append(len(variables))
        return [self.values[id(one)] for one in variables]


@pytest.fixture
def gang():
    return Gang()


def _variables(gang, backing, sizes):
    made = [spmd.Variable(np.zeros(size, np.float32)) for size in sizes]
    for one in made:
        assert backing.share(one) is None
        gang.values[id(one)] = np.ones(one.value.shape, np.float32)
    return made


def test_a_value_is_fetched_once_something_ran(gang):
    backing = GangVariables(gang.call)
    (one,) = _variables(gang, backing, [2])
    assert one.value.tolist() == [0.0, 0.0]
    backing.expire()
    assert one.value.tolist() == [1.0, 1.0]
    assert one.value.tolist() == [1.0, 1.0]
    assert gang.fetched == [1]


def test_small_values_come_together_and_large_ones_with_the_second(gang):
    backing = GangVariables(gang.call)
    small = _variables(gang, backing, [2, 3])
    large = _variables(gang, backing, [5000, 5000, 5000])
    backing.expire()
    assert [float(one.value[0]) for one in small] == [1.0, 1.0]
    assert gang.fetched == [2]
    assert [float(one.value[0]) for one in large] == [1.0, 1.0, 1.0]
    assert gang.fetched == [2, 1, 2]
    backing.expire()
    backing.refresh_all()
    assert gang.fetched[3:] == [5]


def test_what_was_written_is_sent_with_the_next_call(gang):
    backing = GangVariables(gang.call)
    one, other = _variables(gang, backing, [2, 2])
    backing.expire()
    one.value = np.full(2, 7.0, np.float32)
    assert one.value.tolist() == [7.0, 7.0]
    assert gang.fetched == []
    ((variable, value),) = backing.take_written()
    assert variable is one
    assert value.tolist() == [7.0, 7.0]
    assert backing.take_written() == []
    write([(other, value)])
    assert other.value.tolist() == [1.0, 1.0]  # it was to be fetched anyway


def test_a_step_of_this_process_computes_as_ever(gang):
    backing = GangVariables(gang.call)
    (one,) = _variables(gang, backing, [2])

    def step():
        one.value = one.value + 1.0

    spmd.Step(step, spmd.make_mesh(["cpu:0"]))()
    assert one.value.tolist() == [1.0, 1.0]


def test_a_variable_that_is_gone_is_forgotten(gang):
    backing = GangVariables(gang.call)
    _variables(gang, backing, [2])
    assert backing.all() == []


class Meanwhile(Gang):
    """A gang for which another thread does something while a value travels."""

    def __init__(self):
        super().__init__()
        self.others = []

    def call(self, read):
        values = super().call(read)
        if self.others:
            thread = threading.Thread(target=self.others.pop())
            thread.start()
            thread.join(10)
            assert not thread.is_alive()
        return values


def test_another_thread_sends_while_a_value_is_fetched():
    gang = Meanwhile()
    backing = GangVariables(gang.call)
    one, other = _variables(gang, backing, [2, 2])
    backing.expire()
    other.value = np.full(2, 5.0, np.float32)
    taken = []

    def send():
        taken.extend(backing.take_written())
        backing.expire()
        gang.values[id(one)] = np.full(2, 9.0, np.float32)

    gang.others.append(send)
    assert one.value.tolist() == [1.0, 1.0]
    assert [variable for variable, _ in taken] == [other]
    assert one.value.tolist() == [9.0, 9.0]  # what was sent meanwhile may have changed it


def test_what_is_written_while_a_value_is_fetched_stays():
    gang = Meanwhile()
    backing = GangVariables(gang.call)
    (one,) = _variables(gang, backing, [2])
    backing.expire()

    def write_and_send():
        one.value = np.full(2, 7.0, np.float32)
        backing.take_written()

    gang.others.append(write_and_send)
    assert one.value.tolist() == [7.0, 7.0]
    assert gang.fetched == [1]


def test_an_older_value_that_comes_late_is_dropped():
    gang = Meanwhile()
    backing = GangVariables(gang.call)
    (one,) = _variables(gang, backing, [2])
    backing.expire()
    read = []

    def send_and_read():
        backing.expire()
        gang.values[id(one)] = np.full(2, 9.0, np.float32)
        read.extend(one.value.tolist())
        backing.expire()

    gang.others.append(send_and_read)
    backing.refresh([one])
    assert read == [9.0, 9.0]
    with spmd.state.silently():
        assert one.value.tolist() == [9.0, 9.0]


def test_a_value_does_not_come_into_another_threads_trace(gang):
    backing = GangVariables(gang.call)
    (one,) = _variables(gang, backing, [2])
    traces, go, found = threading.Event(), threading.Event(), []

    def step():
        traces.set()
        assert not go.wait(0.5)  # the other thread waits until the trace is over
        found.append(isinstance(one.value, jax.core.Tracer))
        return one.value.sum()

    def read():
        traces.wait(10)
        backing.expire()
        found.append(one.value.tolist())
        go.set()

    thread = threading.Thread(target=read)
    thread.start()
    result = spmd.Step(step, spmd.make_mesh(["cpu:0"]), state=[one])()
    thread.join(10)
    assert float(result) in (0.0, 2.0)  # the reader may be first again
    assert found == [True, [1.0, 1.0]]
