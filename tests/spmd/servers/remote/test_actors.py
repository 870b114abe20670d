"""What runs in the tasks' processes, here in this one."""

import numpy as np
import pytest

import spmd
from spmd.servers import ServerVariables, Store, UnknownVariableError
from spmd.servers.remote import Sender
from spmd.servers.remote.actors import StoreActor, WorkerActor
from spmd.servers.store import Change

pytest.importorskip("ray")


def test_a_server_owns_the_memory_of_its_values():
    store, value = StoreActor(), np.zeros(2, np.float32)
    store.create({("w", 0): value})
    value[0] = 7
    assert store.pull({("w", 0): 0})["w", 0][1].tolist() == [0.0, 0.0]
    changes = [Change(("w", 0), "add", np.ones(2, np.float32))]
    assert store.exchange(changes, {("w", 0): 1}) == {("w", 0): (2, pytest.approx([1.0, 1.0]))}


@pytest.fixture
def run():
    """Has a worker call functions, and returns its reply, with the results unpickled."""
    sender = Sender(spmd.make_mesh(["cpu:0"]), ServerVariables([Store()]))
    worker, known = WorkerActor(), sender.join()
    worker.set_up("session", 3, [])

    def call(*functions):
        reply = worker.run("session", sender.pack(functions, known))
        reply.results = [sender.load(result) for result in reply.results]
        if reply.error is not None:
            reply.error = sender.load(reply.error[0]), reply.error[1]
        return reply

    return call


def test_functions_are_called_with_the_workers_index(run):
    reply = run(lambda worker: worker, lambda worker: np.arange(2))
    assert reply.results[0] == 3
    assert reply.results[1].tolist() == [0, 1]
    assert reply.error is None


def test_the_first_error_ends_it(run):
    def fail(worker):
        raise UnknownVariableError("gone")

    reply = run(lambda worker: 1, fail, lambda worker: 2)
    assert reply.results == [1]
    error, text = reply.error
    assert isinstance(error, UnknownVariableError)
    assert 'raise UnknownVariableError("gone")' in text
    assert not reply.made_variables


def test_a_process_that_was_started_anew_runs_nothing():
    sender = Sender(spmd.make_mesh(["cpu:0"]), ServerVariables([Store()]))
    reply = WorkerActor().run("session", sender.pack([lambda worker: 1], sender.join()))
    assert reply.is_new
    assert not reply.results


def test_an_error_that_cannot_be_pickled_is_described(run):
    class Odd(Exception):
        def __reduce__(self):
            raise TypeError

    def fail(worker):
        raise Odd("strange")

    assert str(run(fail).error[0]) == "Odd: strange"
