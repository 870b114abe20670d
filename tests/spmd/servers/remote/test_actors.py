"""What runs in the tasks' processes, here in this one."""

import types

import numpy as np
import pytest

import spmd
from spmd.servers import ServerVariables, Store, UnknownVariableError
from spmd.servers.remote import Sender, ServerLostError, actors, channel
from spmd.servers.remote.actors import RemoteStore, StoreActor, WorkerActor
from spmd.servers.store import Change

pytest.importorskip("ray")


def test_a_server_owns_the_memory_of_its_values():
    store, value = StoreActor(), np.zeros(2, np.float32)
    store.create({("w", 0): value})
    value[0] = 7
    assert store.pull({("w", 0): 0})["w", 0][1].tolist() == [0.0, 0.0]
    changes = [Change(("w", 0), "add", np.ones(2, np.float32))]
    values, rows = store.exchange(changes, {("w", 0): 1}, {("w", 0): np.array([1])})
    assert values == {("w", 0): (2, pytest.approx([1.0, 1.0]))}
    assert rows["w", 0].tolist() == [1.0]


class _Local:
    """Stands for the handle of an actor, whose methods it calls at once."""

    def __init__(self, actor, calls):
        self._actor, self._calls = actor, calls

    def __getattr__(self, name):
        def remote(*arguments):
            self._calls.append(name)
            return getattr(self._actor, name)(*arguments)

        return types.SimpleNamespace(remote=remote)


@pytest.fixture
def connected(monkeypatch):
    """Connects a client to a store as Ray would; returns them, and the list of calls."""
    monkeypatch.setattr(actors.ray, "get", lambda result, timeout=None: result)
    store, calls = StoreActor(), []
    return RemoteStore(_Local(store, calls), "ps_0", "worker_0"), store, calls


def test_messages_to_a_store_on_this_machine_do_not_pass_through_ray(connected):
    client, _, calls = connected
    client.create({("w", 0): np.zeros(1000, np.float32)})
    client.push([Change(("w", 0), "set", np.arange(1000, dtype=np.float32))])
    first = client.exchange((), {("w", 0): 0}, {})[0]["w", 0]
    client.push([Change(("w", 0), "add", np.ones(1000, np.float32))])
    second = client.exchange((), {("w", 0): 0}, {})[0]["w", 0]
    assert (first[0], second[0]) == (2, 3)
    assert first[1].sum() + 1000 == second[1].sum()
    assert calls == ["connect"]


def test_messages_to_another_machine_pass_through_ray(connected, monkeypatch):
    monkeypatch.setattr(actors, "serve", lambda *arguments: None)
    client, _, calls = connected
    client.create({("w", 0): np.zeros(2, np.float32)})
    client.push([Change(("w", 0), "add", np.ones(2, np.float32))])
    assert client.exchange((), {("w", 0): 0}, {})[0]["w", 0][1].tolist() == [1, 1]
    assert calls == ["connect", "answer", "answer", "answer"]


def test_a_message_that_is_too_large_passes_through_ray(connected, monkeypatch):
    monkeypatch.setattr(channel, "_MOST_SHARED", 1 << 10)
    client, store, calls = connected
    client.create({("w", 0): np.zeros(10, np.float32)})
    client.create({("v", 0): np.ones(5000)})
    client.push([Change(("v", 0), "add", np.ones(()))])
    assert calls == ["connect", "answer"]
    assert store.pull({("v", 0): 0})["v", 0][1].sum() == 10000


def test_an_unknown_variable_is_a_lost_server(connected):
    client, _, _ = connected
    with pytest.raises(ServerLostError, match="no value of variable w, shard 0"):
        client.exchange((), {("w", 0): 0}, {})
    client.create({("w", 0): np.zeros(2, np.float32)})
    assert client.exchange((), {("w", 0): 0}, {})[0]["w", 0][0] == 1


def test_a_process_that_thaws_changes_nothing_after_its_successor_came(connected):
    client, store, calls = connected
    client.create({("w", 0): np.zeros(2, np.float32)})
    successor = RemoteStore(_Local(store, calls), "ps_0", "worker_0")
    successor.push([Change(("w", 0), "add", np.ones(2, np.float32))])
    for _ in range(2):
        with pytest.raises(ConnectionError, match="in place of this worker_0"):
            client.push([Change(("w", 0), "add", np.full(2, 7, np.float32))])
    successor.push([Change(("w", 0), "add", np.ones(2, np.float32))])
    assert store.pull({("w", 0): 0})["w", 0][1].tolist() == [2.0, 2.0]


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
