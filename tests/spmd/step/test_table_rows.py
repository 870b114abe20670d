"""Steps that look up rows of large variables which live elsewhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.state import SparseRows, Update, back, describing

ROWS = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


class Elsewhere:
    """Holds the true value of one variable, and notes what it is asked for."""

    takes_updates = True

    def __init__(self) -> None:
        self.value = ROWS.copy()
        self.refreshed = 0
        self.looked_up: list[np.ndarray] = []
        self.updates: list[Update] = []

    def refresh(self, variables) -> None:
        """Counts."""
        self.refreshed += len(variables)

    def push(self, updates) -> None:
        """Keeps updates."""
        self.updates += updates

    def is_table(self, shape, dtype, rows) -> bool:
        """Tells that any variable of which not all rows are looked up is one."""
        return rows < shape[0]

    def look_up(self, requests, variables=()):
        """Hands out rows."""
        self.refresh(variables)
        self.looked_up += [numbers for _, numbers in requests]
        return [self.value[numbers] for _, numbers in requests]


@pytest.fixture
def elsewhere() -> Elsewhere:
    return Elsewhere()


@pytest.fixture
def table(elsewhere) -> spmd.Variable:
    variable = spmd.Variable(jnp.zeros(ROWS.shape), name="table")
    back(variable, elsewhere)
    return variable


def test_a_step_fetches_the_rows_that_it_looks_up(table, elsewhere, mesh_of):
    step = spmd.Step(lambda numbers: table.value[numbers % 40].sum(-1), mesh_of(1))
    for numbers in ([3, 5, 43], [0, 0, 39]):
        numbers = np.array(numbers)
        result = step(numbers)
        np.testing.assert_allclose(result, ROWS[numbers % 40].sum(-1), rtol=1e-6)
    assert [one.tolist() for one in elsewhere.looked_up] == [[3, 5, 3], [0, 0, 39]]
    assert elsewhere.refreshed == 0
    assert step.trace_count == 1


def test_other_variables_are_refreshed_in_the_same_message(table, elsewhere, mesh_of):
    weight = spmd.Variable(jnp.ones(3), name="weight")
    back(weight, elsewhere)
    messages, refresh = [], elsewhere.refresh
    elsewhere.refresh = lambda variables: messages.append(len(variables)) or refresh(variables)
    step = spmd.Step(lambda numbers: table.value[numbers] @ weight.value, mesh_of(1))
    step(np.array([3]))
    assert messages == [1]
    assert len(elsewhere.looked_up) == 1


def test_an_update_of_rows_is_sent_as_rows(table, elsewhere, mesh_of):
    def step(numbers):
        gradient = jax.grad(lambda value: jnp.sum(value[numbers] ** 2))(table.value)
        with describing(Update(table, "subtract", gradient)):
            table.value = table.value - gradient

    spmd.Step(step, mesh_of(1))(np.array([4, 7, 4]))
    (update,) = elsewhere.updates
    assert isinstance(update.operand, SparseRows)
    assert update.operand.indices.tolist() == [4, 7, 4]
    np.testing.assert_allclose(update.operand.values, 2 * ROWS[[4, 7, 4]], rtol=1e-6)
    assert elsewhere.refreshed == 0


def test_a_table_that_is_only_updated_is_not_fetched(table, elsewhere, mesh_of):
    def scatter(numbers, rows):
        with describing(Update(table, "add", rows, (numbers,))):
            table.value = table.value.at[numbers].add(rows)

    def apply(numbers, rows):
        gradient = jnp.zeros_like(table.value).at[numbers].add(rows)
        with describing(Update(table, "subtract", gradient)):
            table.value = table.value - gradient

    rows = np.ones((2, 3), np.float32)
    for step in (scatter, apply):
        spmd.Step(step, mesh_of(1))(np.array([4, 7]), rows)
    scattered, applied = elsewhere.updates
    assert scattered.index[0].tolist() == applied.operand.indices.tolist() == [4, 7]
    np.testing.assert_array_equal(scattered.operand, rows)
    np.testing.assert_array_equal(applied.operand.values, rows)
    assert (elsewhere.refreshed, elsewhere.looked_up) == (0, [])


def test_rows_that_do_not_exist_are_filled(table, mesh_of):
    step = spmd.Step(lambda numbers: jnp.take(table.value, numbers, axis=0), mesh_of(1))
    result = step(np.array([2, 40, -1]))
    np.testing.assert_array_equal(result[0], ROWS[2])
    assert np.isnan(result[1]).all()
    np.testing.assert_array_equal(result[2], ROWS[39])  # -1 counts from the end


def test_a_variable_that_is_also_used_whole_is_fetched_whole(table, elsewhere, mesh_of):
    step = spmd.Step(lambda numbers: table.value[numbers] - table.value.mean(), mesh_of(1))
    step(np.array([1]))
    assert (elsewhere.refreshed, elsewhere.looked_up) == (1, [])


def test_a_step_that_needs_most_rows_fetches_all(table, elsewhere, mesh_of):
    spmd.Step(lambda numbers: table.value[numbers], mesh_of(1))(np.arange(50) % 40)
    assert (elsewhere.refreshed, elsewhere.looked_up) == (1, [])


def test_the_numbers_may_depend_on_state(table, elsewhere, mesh_of):
    turn = spmd.Variable(jnp.zeros((), jnp.int32), name="turn")
    key = spmd.Variable(jax.random.key(0), name="key", kind="key")

    def step(numbers):
        turn.value = turn.value + 1
        drawn = jax.random.randint(key.value, (2,), 0, 40)
        return table.value[numbers + turn.value - 1], table.value[drawn], drawn

    run = spmd.Step(step, mesh_of(1))
    for number in range(3):
        rows, others, drawn = run(np.array([10]))
        np.testing.assert_array_equal(rows, ROWS[[10 + number]])
        np.testing.assert_array_equal(others, ROWS[drawn])


def test_partial_batches_are_exact(table, elsewhere, mesh_of):
    step = spmd.Step(lambda numbers: spmd.average_loss(table.value[numbers].sum(-1)), mesh_of(1))
    numbers = np.array([3, 1, 4, 1, 5])
    found = [float(step(batch)) for batch in spmd.distribute(numbers, mesh_of(1), batch_size=3)]
    sums = ROWS[numbers].sum(-1)
    np.testing.assert_allclose(found[0], sums[:3].mean(), rtol=1e-5)
    np.testing.assert_allclose(found[1], sums[3:].mean(), rtol=1e-5)


def test_rows_of_another_type_than_the_lookup(table, elsewhere, mesh_of):
    def step(numbers):
        def loss(value):
            return jnp.sum(value.astype(jnp.bfloat16)[numbers].astype(jnp.float32) ** 2)

        value, gradient = jax.value_and_grad(loss)(table.value)
        with describing(Update(table, "subtract", gradient)):
            table.value = table.value - gradient
        return value

    numbers = np.array([4, 7, 4])
    result = spmd.Step(step, mesh_of(1))(numbers)
    rounded = ROWS[numbers].astype(jnp.bfloat16).astype(np.float32)
    np.testing.assert_allclose(result, np.sum(rounded**2), rtol=1e-5)
    (update,) = elsewhere.updates
    assert isinstance(update.operand, SparseRows)
    assert update.operand.values.dtype == np.float32
    assert elsewhere.looked_up


def test_callbacks_are_called_once(table, elsewhere, mesh_of):
    called: list[int] = []

    def step(numbers):
        jax.debug.callback(lambda total: called.append(int(total)), numbers.sum())
        return table.value[numbers]

    spmd.Step(step, mesh_of(1))(np.array([3, 5]))
    jax.effects_barrier()
    assert called == [8]
    assert elsewhere.looked_up


def test_a_step_without_result_writes_its_own_variables(table, elsewhere, mesh_of):
    own = spmd.Variable(jnp.zeros(3), name="own")

    def step(numbers):
        own.value = table.value[numbers].sum(0)

    spmd.Step(step, mesh_of(1))(np.array([3, 5]))
    np.testing.assert_allclose(own.value, ROWS[[3, 5]].sum(0), rtol=1e-6)
    assert elsewhere.looked_up
