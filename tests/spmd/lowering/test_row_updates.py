"""Updates that touch few rows of a large table: the same numbers, and no pass over the table."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.extend.core import jaxpr_as_fun
from jax.sharding import PartitionSpec as P

from spmd.lowering import row_updates
from spmd.lowering.row_updates import with_row_updates

ROWS, WIDTH = 64, 3


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(row_updates, "_MIN_ELEMENTS", ROWS * WIDTH)


def gradient_of(table, ids, targets):
    def loss(table):
        return jnp.sum((jnp.take(table, ids, axis=0) - targets) ** 2)

    return jax.grad(loss)(table)


def sgd(table, slot, gradient):
    return table - 0.1 * gradient, slot


def adagrad(table, slot, gradient):
    slot = slot + jnp.square(gradient)
    return table - 0.1 * gradient / jnp.sqrt(slot + 1e-7), slot


def optax_adagrad(table, slot, gradient):
    optimizer = optax.adagrad(0.1)
    state: Any = optimizer.init(table)
    state = (state[0]._replace(sum_of_squares=slot), *state[1:])
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(table, updates), state[0].sum_of_squares


def clipped(table, slot, gradient):
    norm = jnp.sqrt(jnp.sum(gradient**2))
    return adagrad(table, slot, gradient * jnp.minimum(1.0, 0.5 / norm))


def decayed(table, slot, gradient):
    return adagrad(table - 0.01 * table, slot, gradient)


def where_finite(table, slot, gradient):
    new, others = adagrad(table, slot, gradient / 2)
    fine = jnp.sum(gradient) < 1e9
    return jnp.where(fine, new, table), jnp.where(fine, others, slot)


def momentum(table, slot, gradient):
    slot = 0.9 * slot + gradient
    return table - 0.1 * slot, slot


def adam(table, slot, gradient):
    slot = slot + (gradient - slot) * 0.1
    return table - 0.1 * slot / (jnp.sqrt(slot**2) + 1e-3), slot


OPTIMIZERS = [sgd, adagrad, optax_adagrad, clipped, decayed, where_finite, momentum, adam]


def arguments(ids, seed):
    draws = np.random.default_rng(seed)
    ids = np.array(ids, np.int32)
    shapes = [(ROWS, WIDTH), (ROWS, WIDTH), (len(ids), WIDTH)]
    table, slot, targets = (draws.random(shape, np.float32) for shape in shapes)
    return table, slot + 0.1, ids, targets


def step(optimizer):
    return lambda table, slot, ids, targets: optimizer(
        table, slot, gradient_of(table, ids, targets)
    )


def elementwise_over_tables(jaxpr, found=()):
    """Names the operations, but for replacing rows, that make an array as large as the table."""
    for equation in jaxpr.eqns:
        inner = [value for value in equation.params.values() if hasattr(value, "eqns")]
        if inner and equation.primitive.name != "scatter-add":
            for one in inner:
                found = elementwise_over_tables(one, found)
        elif any(v.aval.shape == (ROWS, WIDTH) for v in equation.outvars):
            found = (*found, equation.primitive.name)
    return found


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda one: one.__name__)
def test_the_numbers_are_the_same(optimizer):
    program = jax.make_jaxpr(step(optimizer))(*arguments([0] * 9, 0))
    better = with_row_updates(program)
    ours, theirs = (jax.jit(jaxpr_as_fun(one)) for one in (better, program))

    # Rows that do not exist are NaN for `take`, and what is not finite would spread.
    @settings(max_examples=30, deadline=None)
    @given(
        ids=st.lists(st.integers(-ROWS, ROWS - 1), min_size=9, max_size=9), seed=st.integers(0, 9)
    )
    def compare(ids, seed):
        given_ = arguments(ids, seed)
        for one, other in zip(ours(*given_), theirs(*given_), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-7)

    compare()


@pytest.mark.parametrize("optimizer", [sgd, adagrad, optax_adagrad, clipped])
def test_nothing_goes_through_the_table(optimizer):
    program = jax.make_jaxpr(step(optimizer))(*arguments([1, 5, 1], 0))
    left = elementwise_over_tables(with_row_updates(program).jaxpr)
    assert set(left) == {"scatter"}
    assert len(left) == (1 if optimizer is sgd else 2)


def test_momentum_is_spared_the_gradient_alone():
    program = jax.make_jaxpr(step(momentum))(*arguments([1, 5, 1], 0))
    assert set(elementwise_over_tables(with_row_updates(program).jaxpr)) == {
        "mul",
        "sub",
        "scatter",
    }


def test_what_needs_the_whole_gradient_stays_as_it_is():
    program = jax.make_jaxpr(step(adam))(*arguments([1, 5, 1], 0))
    assert with_row_updates(program) is program


def test_many_rows_stay_as_they_are():
    program = jax.make_jaxpr(step(adagrad))(*arguments(range(ROWS // 2), 0))
    assert with_row_updates(program) is program


def test_a_row_outside_of_the_table_changes_none():
    def descend(table, ids, rows):
        gradient = jnp.zeros_like(table).at[ids].add(rows, mode="drop")
        return table - gradient * gradient

    table, ids = np.ones((ROWS, WIDTH), np.float32), np.array([ROWS, 2, ROWS + 5, 2], np.int32)
    given_ = table, ids, np.ones((4, WIDTH), np.float32)
    program = jax.make_jaxpr(descend)(*given_)
    better = with_row_updates(program)
    assert better is not program
    ours = jax.jit(jaxpr_as_fun(better))(*given_)[0]
    np.testing.assert_array_equal(ours, jax.jit(descend)(*given_))


def test_a_table_that_is_looked_up_twice_is_updated_once():
    def descend(table, slot, ids, targets):
        def loss(table):
            return jnp.sum(table[ids] * targets) + jnp.sum(table[ids[::-1] + 1] ** 2)

        return adagrad(table, slot, jax.grad(loss)(table))

    given_ = arguments([1, 5, 1, 7], 0)
    program = jax.make_jaxpr(descend)(*given_)
    better = with_row_updates(program)
    assert set(elementwise_over_tables(better.jaxpr)) == {"scatter"}
    for one, other in zip(
        jax.jit(jaxpr_as_fun(better))(*given_), jax.jit(descend)(*given_), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-7)


def test_a_loop_over_steps_updates_rows():
    def loop(table, slot, ids, targets):
        def body(state, inputs):
            return step(adagrad)(*state, *inputs), None

        return jax.lax.scan(body, (table, slot), (ids, targets))[0]

    table, slot, ids, targets = arguments(range(12), 0)
    given_ = table, slot, ids.reshape(3, 4) % 5, targets.reshape(3, 4, WIDTH)
    program = jax.make_jaxpr(loop)(*given_)
    better = with_row_updates(program)
    assert "replace_rows" in str(better)
    for one, other in zip(
        jax.jit(jaxpr_as_fun(better))(*given_), jax.jit(loop)(*given_), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("optimizer", [sgd, adagrad, adam], ids=lambda one: one.__name__)
def test_rows_travel_between_replicas(optimizer):
    mesh = jax.make_mesh((2,), ("replica",), axis_types=(jax.sharding.AxisType.Auto,))

    def replica(table, slot, ids, targets):
        gradient, count = jax.lax.psum((gradient_of(table, ids, targets), len(ids)), "replica")
        return optimizer(table, slot, gradient / count)

    specs = (P(), P(), P("replica"), P("replica"))
    mapped = jax.shard_map(
        replica, mesh=mesh, in_specs=specs, out_specs=(P(), P()), check_vma=False
    )
    given_ = arguments([1, 5, 1, 7, 5, 60, 5, 2], 0)
    program = jax.make_jaxpr(mapped)(*given_)
    better = with_row_updates(program)
    left = elementwise_over_tables(better.jaxpr)
    assert ("psum" in left) == (optimizer is adam)
    ours = jax.jit(jaxpr_as_fun(better))(*given_)
    for one, other in zip(ours, jax.jit(mapped)(*given_), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-7)
