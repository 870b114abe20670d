"""The backing of a worker's copies, over a store of this process."""

from types import SimpleNamespace

import numpy as np
import pytest

import spmd
from spmd.errors import StateError
from spmd.servers import ServerVariables, Store
from spmd.servers.remote.actors import WorkerActor
from spmd.servers.remote.errors import MadeVariablesError
from spmd.servers.remote.worker_variables import WorkerVariables

pytest.importorskip("ray")


class _Counting(Store):
    def __init__(self) -> None:
        super().__init__()
        self.calls = []

    def push(self, changes):
        self.calls.append(("push", len(changes)))
        super().push(changes)

    def exchange(self, changes, versions, rows):
        self.calls.append(("exchange", len(changes)))
        Store.push(self, changes)
        return Store.pull(self, versions), Store.rows(self, rows)


@pytest.fixture
def ends():
    """A store, the coordinator's variable, a worker's backing, its copy, and a step of the worker."""
    store = _Counting()
    variable = spmd.Variable(np.zeros(2, np.float32), kind="sum")
    backing = ServerVariables([store])
    backing.bind(variable)
    place = backing.place_of(variable)
    worker, copy = WorkerVariables([store]), spmd.Variable(np.zeros(2, np.float32), kind="sum")
    assert place is not None
    worker.adopt(copy, place)

    def add():
        copy.value = copy.value + 1
        return copy.value[0]

    store.calls.clear()
    return store, variable, worker, copy, spmd.Step(add, spmd.make_mesh(["cpu:0"]))


def test_updates_travel_with_the_question_for_new_values(ends):
    store, variable, worker, _, step = ends
    worker.begin()
    assert [float(step()) for _ in range(3)] == [1.0, 2.0, 3.0]
    worker.send()
    assert store.calls == [("exchange", 0), ("exchange", 1), ("exchange", 1), ("push", 1)]
    assert variable.value.tolist() == [3.0, 3.0]


def test_each_closure_gets_what_others_wrote(ends):
    _, variable, worker, _, step = ends
    worker.begin()
    step()
    variable.value = np.full(2, 10, np.float32)
    assert float(step()) == 12.0
    worker.send()
    assert variable.value.tolist() == [12.0, 12.0]


def test_variables_are_made_by_the_coordinator(ends):
    _, _, worker, copy, _ = ends
    new = spmd.Variable(np.zeros(2, np.float32))
    worker.begin()
    with pytest.raises(MadeVariablesError):
        worker.bind(new)
    assert worker.refused
    worker.begin()
    assert not worker.refused
    with pytest.raises(MadeVariablesError):
        worker.bind_slot(new, copy, "rule", 0)
    assert worker.refused


def test_what_a_closure_did_that_runs_elsewhere_is_not_sent(ends):
    store, variable, worker, copy, _ = ends

    def add(_):
        copy.value = copy.value + 1

    def add_and_make(index):
        add(index)
        worker.bind(spmd.Variable(np.zeros(2, np.float32)))

    actor = WorkerActor()
    actor._backing, actor._session, actor._index = worker, "s", 0
    actor._receiver = SimpleNamespace(unpack=lambda package: package)
    reply = actor.run("s", [add, add_and_make, add])
    assert (len(reply.results), reply.made_variables) == (1, True)
    assert variable.value.tolist() == [1.0, 1.0]
    assert store.changes == 1


def test_a_closure_makes_no_variables_once_its_updates_were_sent(ends):
    _, variable, worker, _, step = ends
    worker.begin()
    step()
    worker.begin_closure()
    step()  # sends what the former closure did
    with pytest.raises(MadeVariablesError):
        worker.bind(spmd.Variable(np.zeros(2, np.float32)))
    worker.undo()
    worker.begin_closure()
    step()
    step()
    worker.refused = False
    with pytest.raises(StateError, match="after it had updated others"):
        worker.bind(spmd.Variable(np.zeros(2, np.float32)))
    assert not worker.refused  # the error is the user's, and nothing runs twice
    worker.send()
    assert variable.value.tolist() == [3.0, 3.0]


def test_updates_that_were_sent_are_noticed_while_another_server_is_asked(ends):
    _, variable, worker, _, step = ends

    class Slow(dict):
        """Has another thread ask server 0 while this one asks server 1."""

        def pop(self, server, *default):
            if server == 1:
                worker._changes_for(0)
            return super().pop(server, *default)

    worker.begin()
    worker.begin_closure()
    worker._former = Slow()
    step()
    worker._changes_for(1)
    assert worker._has_sent
    assert variable.value.tolist() == [0.0, 0.0]
