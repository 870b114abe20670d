"""Steps op by op do what the compiled ones do, and code in them sees values."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from spmd.servers import ServerVariables, Store
from spmd.state import Update, describing
from spmd.step import CrossReplicaStep, run_op_by_op, runs_op_by_op

ROWS = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def setting():
    yield
    run_op_by_op(False)


def same(first, second):
    def compare(a, b):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5)

    jax.tree.map(compare, first, second)


class Model(nnx.Module):
    def __init__(self):
        rngs = nnx.Rngs(0)
        self.first = nnx.Linear(3, 4, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(4, epsilon=0.1, use_fast_variance=False, rngs=rngs)
        self.dropout = nnx.Dropout(0.3, rngs=rngs)
        self.last = nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x):
        mask = spmd.valid_rows()[:, None] if spmd.replica.in_replica() else None
        return self.last(self.dropout(jnp.tanh(self.norm(self.first(x), mask=mask))))


def trained(mesh, op_by_op):
    model = Model()
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)
    average = nnx.metrics.Average()
    own = spmd.Variable(jnp.zeros(len(mesh.devices)), kind="local")
    key = spmd.Variable(jax.random.key(3), kind="key")

    def train(x):
        def loss_of(model):
            return spmd.average_loss((model(x) - x.sum(1, keepdims=True)) ** 2)

        loss, gradients = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, gradients)
        average.update(values=spmd.all_reduce(loss))
        own.value = own.value + jnp.where(spmd.valid_rows()[:, None], x, 0).sum()
        return {"loss": loss, "drawn": jax.random.normal(key.value), "rows": x * 2}

    step = spmd.Step(train, mesh, keep_per_replica=True)
    run_op_by_op(op_by_op)
    found = [step(batch) for batch in spmd.distribute(ROWS, mesh, batch_size=4)]
    run_op_by_op(False)
    # A compiled step goes on with what one has left that ran op by op.
    found += [step(batch) for batch in spmd.distribute(ROWS, mesh, batch_size=4)]
    kept = [
        (spmd.reduce(one["loss"]), np.asarray(one["drawn"].values), spmd.gather(one["rows"]))
        for one in found
    ]
    state = [leaf for leaf in jax.tree.leaves(nnx.state(model)) if leaf.dtype == jnp.float32]
    return [kept, state, average.compute(), own.value], step.trace_count


def test_a_step_by_hand_is_the_same(mesh_of):
    def trained(op_by_op):
        weight = spmd.Variable(jnp.ones(3), name="weight")
        seen = spmd.Variable(jnp.float32(0), kind="sum")

        def train(x):
            gradient = jax.grad(lambda w: spmd.average_loss((x @ w - 1) ** 2))(weight.value)
            weight.value = weight.value - 0.1 * spmd.replica.sum_gradients(gradient)
            seen.value = seen.value + spmd.valid_rows().sum()
            return spmd.all_reduce(gradient)

        step = spmd.Step(train, mesh_of(4), keep_per_replica=True)
        run_op_by_op(op_by_op)
        found = [step(batch)[3] for batch in spmd.distribute(ROWS, mesh_of(4), batch_size=4)]
        run_op_by_op(False)
        return found, weight.value, seen.value

    same(trained(False), trained(True))


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_training_is_the_same(mesh_of, replicas):
    compiled, traces = trained(mesh_of(replicas), False)
    plain, traces_after = trained(mesh_of(replicas), True)
    same(compiled, plain)
    assert traces == traces_after


def test_code_sees_values_and_the_rows_that_there_are(mesh_of):
    mesh, seen = mesh_of(4), []

    def step(x, rate):
        if x.sum() > 10:  # Python's
            seen.append((int(spmd.replica_id()), x.tolist(), rate))
        return x

    batches = spmd.distribute(np.arange(6.0, dtype=np.float32), mesh, batch_size=8)
    result = spmd.Step(step, mesh).op_by_op(next(iter(batches)), 0.5)
    assert seen == []
    assert [value.tolist() for value in result.values] == [[0, 1], [2, 3], [4, 5], []]
    batches = spmd.distribute(np.arange(6.0, dtype=np.float32) * 3, mesh, batch_size=8)
    spmd.Step(step, mesh).op_by_op(next(iter(batches)), 0.5)
    assert seen == [(1, [6, 9], 0.5), (2, [12, 15], 0.5)]


def test_the_setting_concerns_steps_that_were_compiled_before(mesh_of):
    mesh, calls = mesh_of(2), []
    step = spmd.Step(lambda x: calls.append(1) or spmd.all_reduce(x.sum()), mesh)
    (batch,) = spmd.distribute(np.arange(4.0, dtype=np.float32), mesh, batch_size=4)
    sums, counts = [], []
    for plain in (False, False, True, False, False):
        run_op_by_op(plain)
        assert runs_op_by_op() is plain
        before = len(calls)
        sums.append(float(step(batch)))
        counts.append(len(calls) - before)
    assert sums == [6] * 5
    assert counts[1:] == [0, 2, 0, 0]
    assert step.trace_count == 1


def test_a_step_between_the_replicas_is_python_and_its_parts_take_turns(mesh_of):
    mesh, seen = mesh_of(2), []
    total = spmd.Variable(jnp.float32(0), name="total")

    def add(batch):
        rows = spmd.run(lambda x: seen.append(x) or x.sum(), batch)
        total.value = total.value + spmd.reduce(rows)
        seen.append(total.value)
        return total.value

    step = CrossReplicaStep(add, mesh)
    (batch,) = spmd.distribute(np.arange(4.0, dtype=np.float32), mesh, batch_size=4)
    assert float(step.op_by_op(batch)) == 6
    assert [one.tolist() for one in seen] == [[0, 1], [2, 3], 6]
    assert float(step(batch)) == 12


def test_several_batches_in_one_program_are_run_one_by_one(mesh_of):
    mesh = mesh_of(2)

    def last(*batches):
        return spmd.step.for_each(lambda b: spmd.reduce(spmd.run(lambda x: x.sum(), b)), batches)

    step = CrossReplicaStep(last, mesh)
    batches = list(spmd.distribute(np.arange(8.0, dtype=np.float32), mesh, batch_size=4))
    assert step.op_by_op(*batches).tolist() == step(*batches).tolist() == [6, 22]


def test_equal_results_are_one_value_unless_they_are_to_be_kept_apart(mesh_of):
    def step():
        return spmd.all_reduce(1.0), spmd.replica_id()

    one, own = spmd.Step(step, mesh_of(2)).op_by_op()
    assert float(one) == 2
    assert isinstance(own, spmd.PerReplica)
    apart = spmd.Step(step, mesh_of(2), keep_per_replica=True).op_by_op()
    assert [float(value) for value in apart[0].values] == [2, 2]


def test_mirrored_state_must_be_equal_and_an_error_leaves_it_as_it_was(mesh_of):
    weight = spmd.Variable(jnp.float32(1), name="weight")

    def drift():
        weight.value = weight.value + spmd.replica_id()

    step = spmd.Step(drift, mesh_of(2))
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="weight with a different value"):
        step.op_by_op()
    assert float(weight.value) == 1

    def fail():
        weight.value = weight.value + 1
        if spmd.replica_id() == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        spmd.Step(fail, mesh_of(2)).op_by_op()
    assert float(weight.value) == 1
    assert threading.active_count() == 1 or "replica" not in str(threading.enumerate())


def test_variables_that_are_made_on_the_way_or_hidden(mesh_of):
    made = {}

    def count():
        if "calls" not in made:
            made["calls"] = spmd.Variable(jnp.float32(0))
        variable = made["calls"]
        variable.value = variable.value + spmd.all_reduce(1.0)
        return variable.value

    step = spmd.Step(lambda: vars(holder)["count"](), mesh_of(2))
    holder = type("Holder", (), {})()
    holder.count = count
    assert [float(step.op_by_op()) for _ in range(2)] == [2, 4]
    assert float(made["calls"].value) == 4


def test_replicas_return_one_structure_of_arrays(mesh_of):
    def differ():
        return {"a": 1.0} if spmd.replica_id() else (1.0,)

    with pytest.raises(spmd.errors.StepOutputError, match="on replica 1"):
        spmd.Step(differ, mesh_of(2)).op_by_op()
    with pytest.raises(spmd.errors.StepOutputError, match="'text' of type str"):
        spmd.Step(lambda: "text", mesh_of(2)).op_by_op()


def test_collectives_of_jax_are_named(mesh_of):
    step = spmd.Step(lambda: jax.lax.psum(jnp.ones(2), "replica"), mesh_of(2))
    with pytest.raises(NameError) as raised:
        step.op_by_op()
    assert "spmd.all_reduce" in str(raised.value.__notes__)


def test_what_jax_traces_can_run_op_by_op_too(mesh_of):
    def step():
        with jax.disable_jit():
            return jax.jit(lambda x: spmd.all_reduce(x))(jnp.ones(2))

    assert spmd.Step(step, mesh_of(2)).op_by_op().tolist() == [2, 2]


def test_threads_are_set_up_as_the_caller(mesh_of):
    with jax.enable_x64(True):
        found = spmd.Step(lambda: jnp.float64(spmd.replica_id()), mesh_of(2)).op_by_op()
    assert found.dtype == np.float64


@pytest.mark.parametrize("replicas", [1, 2])
def test_later_steps_leave_arrays_alone_that_a_replica_read(mesh_of, replicas):
    weight, held = spmd.Variable(jnp.arange(1000.0), name="weight"), []

    def step(x):
        weight.value = weight.value + x
        held.append(weight.value)

    def later():
        weight.value = weight.value * 2

    spmd.Step(step, mesh_of(replicas)).op_by_op(1.0)
    spmd.Step(later, mesh_of(replicas))()
    assert [one[:2].tolist() for one in held] == [[1, 2]] * replicas
    assert weight.value[:2].tolist() == [2, 4]


def test_several_processes_are_refused(mesh_of, monkeypatch):
    monkeypatch.setattr("spmd.step.op_by_op.spans_processes", lambda mesh: True)
    with pytest.raises(spmd.errors.MeshError, match=r"several processes.*simulate_devices"):
        spmd.Step(lambda: 1, mesh_of(2)).op_by_op()


@pytest.mark.parametrize("replicas", [1, 2])
def test_variables_on_servers_change_as_with_the_compiled_step(mesh_of, replicas):
    def trained(op_by_op):
        variables = ServerVariables([Store()])
        kinds = ("mirrored", "sum", "mean")
        held = [spmd.Variable(jnp.zeros(3), kind=kind) for kind in kinds]
        for one in held:
            variables.bind(one)
        plain, total, average = held

        def step(x):
            plain.value = plain.value + spmd.all_reduce(x.sum(0))
            total.value = total.value + x.sum(0)
            average.value = 0.5 * average.value + x.mean(0)
            with describing(Update(plain, "add", jnp.ones(3))):
                plain.value = plain.value + 1
            return spmd.all_reduce(plain.value[0])

        run_op_by_op(op_by_op)
        run = spmd.Step(step, mesh_of(replicas))
        results = [run(rows) for rows in spmd.distribute(ROWS[:8], mesh_of(replicas), batch_size=4)]
        run_op_by_op(False)
        return results, [one.value for one in held]

    same(trained(True), trained(False))
