"""Gradients of loops whose number of turns only the running program knows, against bounded ones."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.errors import ControlFlowError
from spmd.step import while_loop


def loop(weights, x, count, bound=None):
    """A loop whose gradient neither vanishes nor grows, with an integer and a key among its values."""

    def body(carry):
        turn, y, key = carry
        key, now = jax.random.split(key)
        y = y + 0.01 * jnp.sin(weights @ y + x * turn) + 0.01 * jax.random.normal(now, y.shape)
        return (turn + 1, y, key), y * 2

    start = (jnp.int32(0), x, jax.random.key(0))
    (_, last, _), other = while_loop(lambda carry: carry[0] < count, body, start, bound=bound)
    return jnp.sum(last**2) + jnp.sum(other)


WEIGHTS = jnp.array([[0.3, -0.2], [0.1, 0.5]])
X = jnp.array([1.0, -2.0])


@functools.partial(jax.jit, static_argnums=1)
def slopes(count, bound):
    return jax.value_and_grad(loop, (0, 1))(WEIGHTS, X, count, bound)


# Below, at and above one slot for each turn; a part that is not full.
@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 70, 100])
def test_the_gradient_is_that_of_a_bounded_loop(count):
    found, expected = slopes(count, None), slopes(count, 100)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


def test_a_long_loop():
    # A third level: more turns than 32 times 32.
    count = 1100
    found, expected = slopes(count, None), slopes(count, count)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_eagerly_and_under_vmap():
    def power(x, limit):
        return while_loop(lambda y: y < limit, lambda y: (y * x, None), x)[0]

    assert float(jax.grad(power)(2.0, 30.0)) == 5 * 2.0**4
    rows = jax.vmap(jax.grad(power))(jnp.array([2.0, 3.0]), jnp.array([30.0, 20.0]))
    assert rows.tolist() == [5 * 2.0**4, 3 * 3.0**2]


def test_nested_loops():
    def inner(y, x):
        return while_loop(lambda c: c[0] < 3, lambda c: ((c[0] + 1, c[1] * x), None), (0, y))[0][1]

    def outer(x):
        return while_loop(lambda y: y < 100, lambda y: (inner(y, x), None), x)[0]

    # Two turns of the outer loop: x, x ** 4, x ** 7.
    assert float(jax.grad(outer)(2.0)) == 7 * 2.0**6


def test_replicas_take_different_numbers_of_turns_and_read_and_write_state():
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    scale = spmd.Variable(jnp.float32(2.0))

    @functools.partial(spmd.Step, mesh=mesh)
    def step(x):
        def loss(factor):
            return while_loop(lambda y: y < 20, lambda y: (y * factor, None), jnp.sum(x))[0]

        gradient = jax.grad(loss)(scale.value)
        total = spmd.all_reduce(gradient, "sum")
        scale.value = scale.value - 0.01 * total
        return total

    (batch,) = spmd.distribute(np.array([3.0, 11.0], np.float32), mesh, batch_size=2)
    # 3 * f ** 3 and 11 * f
    assert float(step(batch)) == 3 * 3 * 4 + 11
    np.testing.assert_allclose(scale.value, 2 - 0.47, rtol=1e-6)


def test_a_loop_with_a_collective_in_it():
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])

    @functools.partial(spmd.Step, mesh=mesh)
    def step(x):
        def loss(x):
            def body(carry):
                turn, y = carry
                return (turn + 1, y * spmd.all_reduce(y, "mean")), None

            return while_loop(lambda c: c[0] < 3, body, (jnp.int32(0), jnp.sum(x)))[0][1]

        def bounded(x):
            def body(carry, _):
                return carry * spmd.all_reduce(carry, "mean"), None

            return jax.lax.scan(body, jnp.sum(x), None, length=3)[0]

        difference = jax.grad(loss)(x) - jax.grad(bounded)(x)
        return spmd.all_reduce(jnp.sum(jnp.abs(difference)), "sum")

    (batch,) = spmd.distribute(np.array([1.5, 0.5], np.float32), mesh, batch_size=2)
    assert not np.any(step(batch))


def test_what_has_no_gradient_says_so():
    def power(x, noisy=False):
        def body(y):
            if noisy:
                jax.debug.callback(lambda _: None, y)
            return y * x, None

        return while_loop(lambda y: y < 30, body, x)[0]

    assert float(power(2.0, noisy=True)) == 32
    with pytest.raises(ControlFlowError, match=r"calls the host.*or give a bound"):
        jax.grad(functools.partial(power, noisy=True))(2.0)
    with pytest.raises(ControlFlowError, match=r"of the gradient of a loop.*Give a bound"):
        jax.grad(jax.grad(power))(2.0)
