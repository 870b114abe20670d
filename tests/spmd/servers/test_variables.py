"""Variables that live on parameter servers: their copies here, and how updates get there."""

import collections
import gc
import threading
import time

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import spmd
from spmd.checkpoint import Checkpoint, view_of_variable
from spmd.integrations.keras import patch_keras
from spmd.servers import Change, ServerVariables, Store, UnknownVariableError, variables
from spmd.state import SparseRows, Update, adapter_of, describing
from spmd.state import backing as module


@pytest.fixture
def stores() -> list[Store]:
    return [Store(), Store()]


def in_two(shape, dtype) -> int:
    return min(2, shape[0])


@pytest.fixture
def backing(stores) -> ServerVariables:
    return ServerVariables(stores, in_two, session="s")


def make(backing: ServerVariables, value, **kwargs) -> spmd.Variable:
    variable = spmd.Variable(value, **kwargs)
    backing.bind(variable)
    return variable


def test_a_variable_is_created_with_the_value_of_its_first_use(backing, stores):
    variable = spmd.Variable(jnp.zeros(3))
    variable.value = jnp.arange(3.0)
    backing.bind(variable)
    assert variable.value.tolist() == [0, 1, 2]
    held = stores[0].pull({("s/0", 0): 0}), stores[1].pull({("s/0", 1): 0})
    assert held[0]["s/0", 0][1].tolist() == [0, 1]
    assert held[1]["s/0", 1][1].tolist() == [2]


def test_what_others_wrote_is_read(backing, stores):
    variable = make(backing, jnp.zeros(4))
    assert variable.value.tolist() == [0, 0, 0, 0]
    stores[1].push([Change(("s/0", 1), "add", np.float32(5))])
    assert variable.value.tolist() == [0, 0, 5, 5]


def test_a_write_between_steps_is_sent(backing, stores):
    variable = make(backing, jnp.zeros(2))
    variable.value = jnp.ones(2)
    assert stores[0].pull({("s/0", 0): 0})["s/0", 0][1].tolist() == [1]
    assert sum(store.changes for store in stores) == 2  # one for each part


def test_a_step_reads_what_others_wrote_and_sends_what_it_adds(backing, stores, mesh_of):
    variable = make(backing, jnp.zeros(4), name="total")
    seen = []

    def step(x):
        before = variable.value
        with describing(Update(variable, "add", x)):
            variable.value = before + x
        return before.sum()

    run = spmd.Step(step, mesh_of(1))
    for turn in range(3):
        seen.append(float(run(jnp.ones(4))))
        stores[0].push([Change(("s/0", 0), "add", np.float32(10))])  # another worker
        assert variable.value.tolist() == [10.0 * (turn + 1) + turn + 1] * 2 + [turn + 1.0] * 2
    assert seen == [0, 24, 48]
    assert run.trace_count == 1


def test_writes_to_sums_are_sent_as_differences(backing, stores, mesh_of):
    total = make(backing, jnp.zeros(()), kind="sum")
    run = spmd.Step(lambda x: setattr(total, "value", total.value + x), mesh_of(1))
    run(2.0)
    stores[0].push([Change(("s/0", 0), "add", np.float32(100))])
    run(3.0)
    assert float(total.value) == 105


def test_a_write_in_a_branch_is_sent_as_its_outcome(backing, mesh_of):
    variable = make(backing, jnp.zeros(2))

    def step(flag):
        def write():
            variable.value = variable.value + 1

        spmd.step.cond(flag, write, lambda: None)

    run = spmd.Step(step, mesh_of(1))
    run(jnp.bool_(False))
    assert variable.value.tolist() == [0, 0]
    run(jnp.bool_(True))
    assert variable.value.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("index", "expected"),
    [((1, 3), [0, 2, 0, 2]), ((3, 9), [0, 0, 0, 2]), ((2, 2), [0, 0, 4, 0])],
)
def test_rows_go_to_the_servers_that_have_them(backing, index, expected):
    variable = make(backing, jnp.zeros((4, 1)))
    rows = np.full((2, 1), 2, np.float32)
    backing.push([Update(variable, "add", rows, (np.array(index),))])
    assert variable.value[:, 0].tolist() == expected


def test_rows_are_looked_up_where_they_are(backing, stores):
    variable = make(backing, jnp.arange(12.0).reshape(6, 2))
    asked = []
    for store in stores:
        rows = store.rows
        store.rows = lambda wanted, rows=rows: asked.append(wanted) or rows(wanted)
    first, second = backing.look_up(
        [(variable, np.array([[5, 0], [5, 2]])), (variable, np.array([0]))]
    )
    np.testing.assert_array_equal(first, [[[10, 11], [0, 1]], [[10, 11], [4, 5]]])
    np.testing.assert_array_equal(second, [[0, 1]])
    numbers = [{key[1]: one.tolist() for key, one in wanted.items()} for wanted in asked]
    assert numbers == [{0: [0, 2]}, {1: [2]}]  # each row once, from the shard that has it


def test_rows_that_are_added_go_where_they_are(backing, stores):
    variable = make(backing, jnp.zeros((6, 1)))
    rows = SparseRows(jnp.array([5, 1, 5, -1, 6]), jnp.array([[1.0], [2], [4], [8], [16]]))
    backing.push([Update(variable, "subtract", rows)])
    assert variable.value.ravel().tolist() == [0, -2, 0, 0, 0, -5]
    before = stores[0].changes
    backing.push([Update(variable, "add", SparseRows(jnp.array([5]), jnp.ones((1, 1))))])
    assert stores[0].changes == before


def test_large_variables_are_tables_if_few_rows_are_looked_up(backing):
    float32 = np.dtype(np.float32)
    assert backing.is_table((1 << 14, 1), float32, 100)
    assert not backing.is_table((1 << 13, 1), float32, 100)
    assert not backing.is_table((1 << 14, 1), float32, 1 << 13 | 1)


def test_a_slice_of_a_divided_variable_cannot_be_assigned(backing):
    variable = make(backing, jnp.zeros(4))
    with pytest.raises(NotImplementedError, match="scatter_nd_update"):
        backing.push([Update(variable, "set", np.float32(1), detail=slice(1, 3))])


def test_arrays_that_were_read_stay_as_they_are(backing, mesh_of):
    variable = make(backing, jnp.zeros(4))
    before = variable.value
    spmd.Step(lambda: setattr(variable, "value", variable.value + 1), mesh_of(1))()
    assert before.tolist() == [0, 0, 0, 0]
    assert variable.value.tolist() == [1, 1, 1, 1]


def test_checkpoints_hold_what_the_servers_have(backing, stores, tmp_path):
    variable = make(backing, jnp.zeros(4))
    assert variable.value.shape == (4,)
    stores[0].push([Change(("s/0", 0), "add", np.float32(3))])
    checkpoint = Checkpoint(variable=variable)
    path = checkpoint.save(tmp_path / "ckpt")
    stores[0].push([Change(("s/0", 0), "add", np.float32(4))])
    checkpoint.restore(path)
    assert stores[0].pull({("s/0", 0): 0})["s/0", 0][1].tolist() == [3, 3]
    other = spmd.Variable(jnp.zeros(4))
    Checkpoint(variable=other).restore(path)
    assert other.value.tolist() == [3, 3, 0, 0]


def test_a_variable_that_is_gone_leaves_nothing_behind(backing):
    variable = make(backing, jnp.zeros(4))
    assert variable.value.shape == (4,)
    of_freed = id(variable)
    del variable
    gc.collect()
    assert of_freed not in module._BACKED
    assert not backing._entries


def test_several_programs_use_one_server(stores):
    first, second = (make(ServerVariables(stores), value) for value in (jnp.zeros(2), jnp.ones(3)))
    assert (first.value.tolist(), second.value.tolist()) == ([0, 0], [1, 1, 1])


class _Far:
    """A store in another process, as far as its users know; answers when all are asked."""

    def __init__(self, meet: threading.Barrier) -> None:
        self._store, self._meet = Store(), meet
        self.create, self.push = self._store.create, self._store.push

    def exchange(self, *arguments):
        self._meet.wait(10)
        return self._store.exchange(*arguments)


def test_servers_in_other_processes_are_asked_side_by_side():
    meet = threading.Barrier(2)
    backing = ServerVariables([_Far(meet), _Far(meet)], in_two)
    variable = make(backing, jnp.arange(4.0))
    assert variable.value.tolist() == [0, 1, 2, 3]


def test_a_variable_is_used_by_another_thread_once_it_is_on_the_servers():
    creates, go, errors = threading.Event(), threading.Event(), []

    class Slow(Store):
        def create(self, values, *, shared=True):
            creates.set()
            go.wait(10)
            super().create(values, shared=shared)

    variable = make(ServerVariables([Slow()]), jnp.ones(2))

    def read():
        try:
            assert variable.value.tolist() == [1, 1]
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    threads[0].start()
    assert creates.wait(10)
    threads[1].start()
    threads[1].join(0.2)
    go.set()
    for thread in threads:
        thread.join(10)
    assert errors == []


def others(step, mesh, act):
    """Calls a function on another thread while a step is being traced, and returns what it returns or raises."""
    traces, go, found = threading.Event(), threading.Event(), []

    def traced():
        traces.set()
        go.wait(10)
        return step()

    def run():
        try:
            found.append(act())
        except Exception as error:
            found.append(error)

    tracing = threading.Thread(target=spmd.Step(traced, mesh))
    tracing.start()
    assert traces.wait(10)
    acting = threading.Thread(target=run)
    acting.start()
    acting.join(0.2)
    go.set()
    tracing.join(30)
    acting.join(10)
    (only,) = found
    return only


@pytest.mark.parametrize("is_new", [False, True])
def test_variables_are_read_while_another_thread_traces(mesh_of, is_new):
    store = Store()
    variable = make(ServerVariables([store], session="s"), jnp.zeros(2))
    assert variable.value.tolist() == [0, 0]
    if is_new:
        store.push([Change(("s/0", 0), "add", np.float32(1))])
    read = others(lambda: variable.value.sum(), mesh_of(1), lambda: variable.value.tolist())
    assert read == [int(is_new)] * 2


@pytest.mark.parametrize("is_saved", [False, True])
@pytest.mark.parametrize("make_variable", [spmd.Variable, keras.Variable])
def test_a_trace_that_begins_once_a_value_has_come_does_not_show_its_own(
    mesh_of, make_variable, is_saved
):
    patch_keras()
    traces, go = threading.Event(), threading.Event()

    class Begins(ServerVariables):
        def refresh(self, variables):
            super().refresh(variables)
            if threading.current_thread() is threading.main_thread():
                tracing.start()
                assert traces.wait(10)
                releasing.start()

    variable = make_variable(np.ones(2, np.float32))
    Begins([Store()]).bind(variable)

    def step():
        traces.set()
        go.wait(10)
        return variable.value.sum()

    tracing = threading.Thread(target=spmd.Step(step, mesh_of(1), state=[variable]))
    releasing = threading.Timer(0.2, go.set)
    saved = view_of_variable(variable, adapter_of(variable))
    found = saved.read() if is_saved else variable.value
    for thread in (tracing, releasing):
        thread.join(10)
    assert not isinstance(found, jax.core.Tracer)
    assert found.tolist() == [1, 1]


def test_variables_are_written_while_another_thread_traces(mesh_of):
    store, results = Store(), []
    variable = make(ServerVariables([store], session="s"), jnp.zeros(2))

    def write():
        variable.value = jnp.ones(2)
        return variable.value.tolist()

    def step():
        results.append(variable.value)
        return results[-1].sum()

    assert others(step, mesh_of(1), write) == [1, 1]
    assert isinstance(results[0], jax.core.Tracer)  # and nothing is baked into the step
    assert variable.value.tolist() == [1, 1]


def test_values_of_variables_that_are_gone_are_deleted_after_a_while(monkeypatch):
    store = Store()
    backing = ServerVariables([store], session="s")
    variable, other = make(backing, jnp.zeros(2)), make(backing, jnp.ones(2))
    assert [variable.value.tolist(), other.value.tolist()] == [[0, 0], [1, 1]]
    key = ("s/0", 0)
    del variable
    gc.collect()
    assert other.value.tolist() == [1, 1]
    assert list(store.pull({key: 0})) == [key]  # a worker may still use it
    monkeypatch.setattr(variables, "_GONE_SECONDS", 0)
    assert other.value.tolist() == [1, 1]
    with pytest.raises(UnknownVariableError):
        store.pull({key: 0})


def test_only_who_made_a_variable_deletes_it(monkeypatch):
    monkeypatch.setattr(variables, "_GONE_SECONDS", 0)
    store = Store()
    maker, user = ServerVariables([store], session="s"), ServerVariables([store])
    variable, copy = make(maker, jnp.zeros(2)), spmd.Variable(np.zeros(2, np.float32))
    user.adopt(copy, maker.place_of(variable))
    assert copy.value.tolist() == [0, 0]
    del copy
    gc.collect()
    user.refresh([])
    assert variable.value.tolist() == [0, 0]
    assert list(store.pull({("s/0", 0): 0})) == [("s/0", 0)]


def test_slots_of_an_optimizer_that_is_gone_are_deleted_and_the_variable_stays(
    backing, stores, monkeypatch
):
    monkeypatch.setattr(variables, "_GONE_SECONDS", 0)
    patch_keras()
    variable, slot = keras.Variable(np.zeros(2)), keras.Variable(np.zeros(2))
    backing.bind(variable)
    backing.bind_slot(slot, variable, "rule", 0)
    slot.assign(np.ones(2))
    keys = [("s/0", part, "rule", 0) for part in (0, 1)]
    assert [list(one.pull({key: 0})) for one, key in zip(stores, keys, strict=True)] == [
        [key] for key in keys
    ]
    del slot

    def held():
        gc.collect()
        assert np.asarray(variable).tolist() == [0, 0]
        return [one.pull({key: 0}) for one, key in zip(stores, keys, strict=True)]

    until = time.monotonic() + 20  # a thread of a former test may still look at it
    while held() != [{}, {}] and time.monotonic() < until:
        time.sleep(0.1)
    assert held() == [{}, {}]


def test_another_thread_may_delete_what_is_gone(backing):
    class Emptied(collections.deque):
        def __bool__(self):
            was_there = len(self) > 0
            self.clear()  # as another thread does meanwhile
            return was_there

    variable = make(backing, jnp.zeros(2))
    backing._gone = Emptied([(0.0, None)])
    assert variable.value.tolist() == [0, 0]


def test_variables_that_end_while_they_are_created_leave_nothing(monkeypatch):
    class Slow(Store):
        def create(self, values):
            held.clear()
            super().create(values)

    monkeypatch.setattr(variables, "_GONE_SECONDS", 0)
    store = Slow()
    backing = ServerVariables([store], session="s")
    held = [make(backing, jnp.zeros(2)) for _ in range(2)]
    backing.refresh([])
    backing.refresh([])
    assert not backing._entries
    with pytest.raises(UnknownVariableError):
        store.pull({("s/0", 0): 0})
