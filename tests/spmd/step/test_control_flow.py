"""Branches and loops in a step, and the state that they write."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from spmd.errors import ControlFlowError, ReplicaDivergenceError
from spmd.step import cond, scan, switch, while_loop


@pytest.fixture
def mesh() -> jax.sharding.Mesh:
    return spmd.make_mesh(["cpu:0", "cpu:1"])


def step(function, mesh, **options):
    return spmd.Step(function, mesh, **options)


def test_a_branch_writes_the_state_of_its_side_only(mesh) -> None:
    a, b = spmd.Variable(jnp.float32(0)), spmd.Variable(jnp.float32(0))

    def add(variable, x):
        variable.value = variable.value + x
        return variable.value

    run = step(lambda x: cond(x > 0, lambda: add(a, x), lambda: add(b, x)), mesh)
    assert [float(run(jnp.float32(x))) for x in (2, -3, 5)] == [2, -3, 7]
    assert (float(a.value), float(b.value)) == (7, -3)


def test_switch_clamps_its_index(mesh) -> None:
    run = step(lambda i: switch(i, [lambda: 10, lambda: 20, lambda: 30]), mesh)
    assert [int(run(jnp.int32(i))) for i in (-5, 0, 1, 2, 9)] == [10, 10, 20, 30, 30]


def test_branches_must_return_the_same(mesh) -> None:
    for other in (lambda: jnp.zeros(2), lambda: (jnp.float32(1),), lambda: jnp.int32(1)):
        with pytest.raises(ControlFlowError, match="Return the same"):
            step(lambda x, other=other: cond(x > 0, lambda: x, other), mesh)(jnp.float32(1))


def test_weak_types_give_way(mesh) -> None:
    run = step(lambda x: cond(x > 0, lambda: x, lambda: 1.0), mesh)
    result = run(jnp.bfloat16(-2))
    assert (result.dtype, float(result)) == (jnp.bfloat16, 1.0)


def test_a_while_loop_carries_state_and_keeps_the_last_turn(mesh) -> None:
    turns = spmd.Variable(jnp.int32(0))

    def body(x):
        turns.value = turns.value + 1
        return x * 2, {"before": x}

    run = step(lambda x: while_loop(lambda x: x < 50, body, x), mesh)
    last, kept = run(jnp.float32(3))
    assert (float(last), float(kept["before"]), int(turns.value)) == (96, 48, 5)
    last, kept = run(jnp.float32(100))
    assert (float(last), float(kept["before"]), int(turns.value)) == (100, 0, 5)


def test_a_test_may_write_state_too(mesh) -> None:
    asked = spmd.Variable(jnp.int32(0))

    def test(x):
        asked.value = asked.value + 1
        return x < 4

    step(lambda x: while_loop(test, lambda x: (x + 1, None), x)[0], mesh)(jnp.int32(0))
    assert int(asked.value) == 5


def test_a_while_loop_has_gradients_with_a_bound_and_without() -> None:
    def loop(x, bound=None):
        return while_loop(lambda y: y < 20, lambda y: (y * 2, None), x, bound=bound)[0]

    assert float(jax.grad(functools.partial(loop, bound=10))(3.0)) == 8
    assert float(jax.grad(loop)(3.0)) == 8
    assert float(loop(3.0, bound=2)) == 12


def test_a_carry_keeps_its_shape_and_type(mesh) -> None:
    for body in (
        lambda x: (x.astype(jnp.int32), None),
        lambda x: (x[None], None),
        lambda x: ((x, x), None),
    ):
        with pytest.raises(ControlFlowError, match="body of a loop changes"):
            step(lambda x, body=body: while_loop(lambda _: x > 0, body, x)[0], mesh)(jnp.float32(1))


def test_a_variable_keeps_its_shape(mesh) -> None:
    weight = spmd.Variable(jnp.zeros(2), name="weight")

    def grow():
        weight.value = jnp.zeros(3)
        return 0

    with pytest.raises(ControlFlowError, match="changes weight from float32"):
        step(lambda x: cond(x > 0, grow, lambda: 0), mesh)(jnp.float32(1))


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_stacks_and_carries(mesh, reverse) -> None:
    rows = np.arange(4, dtype=np.float32)

    def body(total, x):
        return total + x, x, total + x

    total, last, sums = step(lambda x: scan(body, 0.0, x, reverse=reverse), mesh)(rows)
    order = rows[::-1] if reverse else rows
    expected = np.cumsum(order)[::-1] if reverse else np.cumsum(order)
    assert (float(total), float(last)) == (6, order[-1])
    np.testing.assert_array_equal(sums, expected)


def test_a_scan_ends_where_its_test_fails(mesh) -> None:
    rows = jnp.arange(1.0, 6.0)
    count = spmd.Variable(jnp.int32(0))

    def body(total, x):
        count.value = count.value + 1
        return total + x, x, x

    def run(limit):
        return scan(body, 0.0, rows, test=lambda total: total < limit)

    total, last, stacked = step(run, mesh)(jnp.float32(5))
    assert (float(total), float(last), stacked.tolist()) == (6, 3, [1, 2, 3, 0, 0])
    assert int(count.value) == 3
    total, last, _ = step(run, mesh)(jnp.float32(-1))
    assert (float(total), float(last), int(count.value)) == (0, 0, 3)


def test_loops_nest(mesh) -> None:
    calls = spmd.Variable(jnp.int32(0))

    def inner(total, x):
        calls.value = calls.value + 1
        return cond(x > 1, lambda: total + x, lambda: total), None, None

    def outer(total, row):
        return scan(inner, total, row)[0], None, None

    rows = jnp.arange(6.0).reshape(2, 3)
    total = step(lambda: scan(outer, 0.0, rows)[0], mesh)()
    assert (float(total), int(calls.value)) == (14, 6)


def test_an_optimizer_steps_in_a_branch(mesh) -> None:
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    before = np.asarray(model.kernel[...])

    def train(x, does):
        def update():
            gradients = nnx.grad(lambda model: model(x).sum())(model)
            optimizer.update(model, gradients)
            return 0

        return cond(does, update, lambda: 0)

    run = step(train, mesh)
    (batch,) = spmd.distribute(np.ones((4, 2), np.float32), mesh, batch_size=4)
    run(batch, jnp.bool_(False))
    np.testing.assert_array_equal(model.kernel[...], before)
    assert int(optimizer.step[...]) == 0
    run(batch, jnp.bool_(True))
    assert np.all(np.asarray(model.kernel[...]) < before)
    assert int(optimizer.step[...]) == 1


def test_a_replica_cannot_decide_about_a_collective(mesh) -> None:
    def replica(x):
        return cond(x.sum() > 0, lambda: spmd.all_reduce(x.sum()), lambda: x.sum())

    (batch,) = spmd.distribute(np.ones((4, 2), np.float32), mesh, batch_size=4)
    with pytest.raises(ReplicaDivergenceError):
        step(replica, mesh)(batch)


def test_a_replica_cannot_write_what_it_alone_decides(mesh) -> None:
    weight = spmd.Variable(jnp.float32(0), name="weight")

    def write():
        weight.value = weight.value + 1
        return 0

    (batch,) = spmd.distribute(np.ones((4, 2), np.float32), mesh, batch_size=4)
    with pytest.raises(ReplicaDivergenceError, match="weight"):
        step(lambda x: cond(x.sum() > 0, write, lambda: 0), mesh)(batch)


def test_each_function_is_traced_once(mesh) -> None:
    calls = []
    run = step(
        lambda x: while_loop(lambda y: y < 9, lambda y: (calls.append(1), (y + 1, None))[1], x)[0],
        mesh,
    )
    assert int(run(jnp.int32(0))) == 9
    assert len(calls) == 1


def test_outside_of_a_step_it_is_jaxs_own() -> None:
    assert int(jax.jit(lambda x: cond(x > 1, lambda: x * 2, lambda: x))(3)) == 6
    assert float(jax.grad(lambda x: cond(x > 1, lambda: x * x, lambda: x))(3.0)) == 6


def test_a_variable_that_a_loop_makes(mesh) -> None:
    held: dict[str, spmd.Variable] = {}

    def turn(count, row):
        if "total" not in held:
            with jax.ensure_compile_time_eval():
                held["total"] = spmd.Variable(jnp.float32(0))
            held["total"]._made_in_step()
        held["total"].value = held["total"].value + row
        return count + 1, None, None

    run = step(lambda rows: scan(turn, jnp.int32(0), rows)[0], mesh, state=[held])
    assert int(run(jnp.arange(4.0))) == 4
    assert float(held["total"].value) == 6


def test_a_value_that_leaves_a_loop_by_the_side_is_an_error(mesh) -> None:
    kept = []

    def run(x):
        last, _, _ = scan(lambda t, row: (t + row, None, kept.append(t * 2.0)), jnp.float32(0), x)
        return last + kept[0]

    with pytest.raises(ControlFlowError, match=r"test_control_flow\.py:\d+ .*outside of which"):
        step(run, mesh)(jnp.ones(3))
