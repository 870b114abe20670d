"""Groups of replicas, evaluated side by side: loops, branches and calls with collectives in them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import spmd
from spmd.step.lockstep import Lockstep, Value

AXIS = "replica"


def trace(function, rows):
    return jax.make_jaxpr(function, axis_env=[(AXIS, 3)])(jnp.zeros(rows), jnp.zeros(()))


def evaluate(function, x=(1.0, 2.0, 3.0, 4.0, 5.0)):
    """Runs a function on three replicas, of which two have two rows, and one has one."""
    lockstep = Lockstep([(0, 1), (2,)], AXIS)
    programs = [trace(function, 2), trace(function, 1)]
    same = []

    def program(x, state):
        entries = [
            [Value(x[:4].reshape(2, 2), own=True), Value(state)],
            [Value(x[4:], own=True), Value(state)],
        ]
        columns = lockstep.evaluate(programs, entries)
        same[:] = map(lockstep.is_same, columns)
        return [lockstep.stacked(column) for column in columns]

    found = jax.jit(program)(jnp.asarray(x), jnp.float32(1))
    return [value.tolist() for value in found], list(same)


def test_what_is_made_of_sums_is_one_value():
    def step(x, state):
        total = lax.psum(x.sum(), AXIS)
        return state + total * 2, x.sum(), jnp.float32(x.shape[0]), state * 3

    found, same = evaluate(step)
    assert found == [[31.0] * 3, [3.0, 7.0, 5.0], [2.0, 2.0, 1.0], [3.0] * 3]
    assert same == [True, False, False, True]


def test_equal_by_chance_is_not_the_same():
    _, same = evaluate(lambda x, state: (x.sum() * 0, state * 0))
    assert same == [False, True]


def test_a_loop_with_a_sum_in_it():
    def step(x, state):
        def turn(carry, i):
            return carry + lax.psum(x.sum() * i, AXIS), x.sum() + i

        return lax.scan(turn, state, jnp.arange(3.0))

    found, same = evaluate(step)
    assert found[0] == [1 + 15 * 3] * 3
    assert found[1] == [[3, 4, 5], [7, 8, 9], [5, 6, 7]]
    assert same == [True, False]


def test_a_loop_that_carries_what_is_the_replicas_own():
    def step(x, state):
        def turn(carry, _):
            own, all_of = carry
            return (own + x.sum(), all_of + lax.pmax(own, AXIS)), None

        return lax.scan(turn, (state, state), None, length=2)[0]

    found, same = evaluate(step)
    assert found == [[7.0, 15.0, 11.0], [1 + 1 + 8.0] * 3]
    assert same == [False, True]


def test_a_loop_counts_turns_beside_rows():
    def step(x, state):
        def turn(carry, i):
            return (carry[0] + 1, carry[1] + x.sum() * i), None

        return lax.scan(turn, (state, 0.0), jnp.arange(3.0))[0]

    found, same = evaluate(step)
    assert found == [[4.0] * 3, [9.0, 21.0, 15.0]]
    assert same == [True, False]


def test_a_loop_over_rows_turns_as_often_as_there_are_some():
    def step(x, state):
        return lax.scan(lambda count, row: (count + 1, row), state, x)[0]

    found, same = evaluate(step)
    assert (found, same) == ([[3.0, 3.0, 2.0]], [False])


def test_while_with_a_sum_in_it():
    def step(x, state):
        return lax.while_loop(
            lambda carry: carry[0] < 40,
            lambda carry: (carry[0] + lax.psum(x.sum(), AXIS), carry[1] + x[0]),
            (state, state),
        )

    found, same = evaluate(step)
    assert found == [[46.0] * 3, [4.0, 10.0, 16.0]]
    assert same == [True, False]


def test_while_that_each_replica_leaves_by_itself():
    def step(x, state):
        return lax.while_loop(lambda c: c < x.sum(), lambda c: c + 1, state)

    assert evaluate(step) == ([[3.0, 7.0, 5.0]], [False])


@pytest.mark.parametrize("limit", [10, 20])
def test_a_branch_with_a_sum_in_it(limit):
    def step(x, state):
        total = lax.psum(x.sum(), AXIS)
        return lax.cond(
            total < limit,
            lambda x: (state, x.sum()),
            lambda x: (lax.psum(x[0], AXIS), state),
            x,
        )

    found, same = evaluate(step)
    if limit == 20:
        assert found == [[1.0] * 3, [3.0, 7.0, 5.0]]
    else:
        assert found == [[9.0] * 3, [1.0] * 3]
    assert same == [True, False]


def test_a_branch_that_each_replica_takes_by_itself():
    def step(x, state):
        return lax.cond(x.sum() > 4, lambda: state, lambda: -state)

    assert evaluate(step) == ([[-1.0, 1.0, 1.0]], [False])


def test_calls_are_looked_into():
    @jax.custom_vjp
    def scaled(x):
        return lax.psum(x.sum(), AXIS)

    scaled.defvjp(lambda x: (scaled(x), x), lambda x, g: (x * g,))

    def step(x, state):
        inner = jax.jit(lambda x: jax.nn.relu(lax.psum(-x, AXIS)))(x.sum())
        gradient = jax.grad(jax.checkpoint(lambda s: lax.psum(jnp.sin(x * s).sum(), AXIS)))(state)
        return inner, scaled(x), lax.psum(gradient, AXIS)

    found, same = evaluate(step)
    assert found[:2] == [[0.0] * 3, [15.0] * 3]
    assert same == [True, True, True]


def test_the_index_inside_a_loop():
    def step(x, state):
        return lax.scan(lambda c, _: (c + lax.axis_index(AXIS), None), 0, None, length=len(x))[0]

    assert evaluate(step) == ([[0, 2, 2]], [False])


def test_each_replica_asks_the_host_for_itself():
    seen = []

    def step(x, state):
        jax.debug.callback(lambda value: seen.append(float(value)), x.sum())
        doubled = jax.pure_callback(
            lambda value: np.asarray(value) * 2, jax.ShapeDtypeStruct((), jnp.float32), x.sum()
        )
        return lax.psum(doubled, AXIS)

    assert evaluate(step) == ([[30.0] * 3], [True])
    jax.effects_barrier()
    assert sorted(seen) == [3.0, 5.0, 7.0]


def test_collectives_out_of_step_are_refused():
    def step(x, state):
        if x.shape[0] == 1:
            return lax.pmax(x.sum(), AXIS)
        return lax.psum(x.sum(), AXIS)

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match=r"psum at .* and pmax at"):
        evaluate(step)


def test_a_loop_over_rows_with_a_sum_in_it_is_refused():
    def step(x, state):
        return lax.scan(lambda c, row: (c + lax.psum(row, AXIS), None), state, x)[0]

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="do not come together"):
        evaluate(step)
