"""Variables whose true value lives elsewhere."""

import weakref

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.state import (
    Update,
    back,
    back_new,
    backing_of,
    describing,
    is_backed,
    merging_writes,
    refreshed,
    register_backing,
    silently,
    update_by_rule,
)
from spmd.state import backing as module


class Backing:
    """Remembers what it is asked."""

    takes_updates = True

    def __init__(self) -> None:
        self.refreshes, self.updates = [], []

    def refresh(self, variables):
        self.refreshes.append(list(variables))

    def push(self, updates):
        self.updates += updates


@pytest.fixture
def backing() -> Backing:
    return Backing()


@pytest.fixture
def variable(backing) -> spmd.Variable:
    made = spmd.Variable(jnp.zeros(2), name="w")
    back(made, backing)
    return made


def verbs(backing: Backing) -> list[str]:
    return [update.verb for update in backing.updates]


def test_a_variable_knows_its_backing(backing, variable):
    other = spmd.Variable(1.0)
    assert (backing_of(variable), backing_of(other)) == (backing, None)
    assert is_backed([other, variable])
    assert not is_backed([other])


def test_reading_between_steps_refreshes(backing, variable):
    assert variable.value.shape == (2,)
    refreshed([spmd.Variable(1.0), variable])
    assert backing.refreshes == [[variable], [variable]]


def test_writes_between_steps_are_described_as_far_as_is_known(backing, variable):
    variable.value = jnp.ones(2)
    with describing(Update(variable, "add", jnp.ones(2))):
        variable.value = jnp.full(2, 2.0)
    with describing(Update(spmd.Variable(0.0), "add", jnp.ones(2))):  # of another one
        variable.value = jnp.full(2, 3.0)
    with silently():
        variable.value = jnp.full(2, 4.0)
    assert verbs(backing) == ["set", "add", "set"]
    assert backing.updates[0].operand.tolist() == [1, 1]


def test_workers_send_differences_of_sums(backing):
    total = spmd.Variable(jnp.float32(5), kind="sum")
    back(total, backing)
    with merging_writes():
        total.value = jnp.float32(7)
    total.value = jnp.float32(9)
    assert verbs(backing) == ["add", "set"]
    assert [float(update.operand) for update in backing.updates] == [2, 9]


def test_a_step_refreshes_before_it_runs_and_sends_after_each_run(backing, variable, mesh_of):
    def step(x):
        with describing(Update(variable, "add", x)):
            variable.value = variable.value + x
        return x * 2

    run = spmd.Step(step, mesh_of(1))
    for turn in range(3):
        assert run(jnp.full(2, float(turn))).tolist() == [2 * turn] * 2
    assert backing.refreshes == [[variable]] * 3
    assert verbs(backing) == ["add"] * 3
    assert [update.operand.tolist() for update in backing.updates] == [[0, 0], [1, 1], [2, 2]]


def test_a_step_that_only_reads_sends_nothing(backing, variable, mesh_of):
    assert float(spmd.Step(lambda: variable.value.sum(), mesh_of(1))()) == 0
    assert (len(backing.refreshes), backing.updates) == (1, [])


def test_updates_come_in_order_and_an_undescribed_write_replaces_them(backing, variable, mesh_of):
    other = spmd.Variable(jnp.zeros(2))
    back(other, backing)

    def step():
        with describing(Update(variable, "multiply", jnp.float32(3))):
            variable.value = variable.value * 3
        with describing(Update(variable, "add", jnp.ones(2))):
            variable.value = variable.value + 1
        with describing(Update(other, "add", jnp.ones(2))):
            other.value = other.value + 1
        other.value = other.value * 5

    spmd.Step(step, mesh_of(1))()
    assert verbs(backing) == ["multiply", "add", "set"]
    assert backing.updates[-1].variable is other
    assert backing.updates[-1].operand.tolist() == [5, 5]


def test_a_rule_runs_where_the_value_is(backing, variable, mesh_of):
    def step(x):
        update_by_rule([Update(variable, "apply", x, detail="rule")], lambda: None)

    spmd.Step(step, mesh_of(1))(jnp.ones(2))
    assert [(one.verb, one.detail) for one in backing.updates] == [("apply", "rule")]
    assert variable._value.tolist() == [0, 0]


def test_a_step_that_reads_after_the_rule_is_traced_again_and_predicts(backing, variable, mesh_of):
    calls = []

    def step(x):
        def predict():
            variable.value = variable.value + 7

        calls.append(1)
        update_by_rule([Update(variable, "apply", x, detail="rule")], predict)
        return variable.value

    run = spmd.Step(step, mesh_of(1))
    assert run(jnp.ones(2)).tolist() == [7, 7]
    assert verbs(backing) == ["apply"]
    assert len(calls) == 2


def test_a_step_that_has_not_found_the_variable_yet_predicts_and_sends_nothing(
    backing, variable, mesh_of
):
    hidden, predicted = weakref.ref(variable), []

    def step(x):
        update_by_rule([Update(hidden(), "apply", x, detail="rule")], lambda: predicted.append(1))

    spmd.Step(step, mesh_of(1))(jnp.ones(2))
    assert (predicted, backing.updates) == ([1], [])


def test_new_variables_are_backed_by_whom_was_chosen(backing, monkeypatch):
    monkeypatch.setattr(module, "_CHOOSERS", [])
    chosen = []
    register_backing(lambda: lambda one: back(one, backing) if chosen else None)
    before = spmd.Variable(1.0)
    chosen.append(True)
    after = spmd.Variable(1.0)
    with silently():
        silent = spmd.Variable(1.0)
    assert [backing_of(one) for one in (before, after, silent)] == [None, backing, None]
    seen = []
    register_backing(lambda: seen.append, slots=True)
    with silently():
        slot = spmd.Variable(1.0)
    back_new(slot, is_slot=True)
    assert seen == [slot]
    assert backing_of(slot) is None


def test_the_proof_of_padding_and_equality_holds_for_updates(backing, mesh_of):
    weight = spmd.Variable(jnp.zeros(()))
    back(weight, backing)

    def step(x):
        mean = spmd.all_reduce(spmd.average_loss(x))
        with describing(Update(weight, "add", mean)):
            weight.value = weight.value + mean

    run = spmd.Step(step, mesh_of(2))
    for batch in spmd.distribute(np.arange(6, dtype=np.float32), mesh_of(2), batch_size=4):
        run(batch)
    assert [float(update.operand) for update in backing.updates] == [1.5, 4.5]
