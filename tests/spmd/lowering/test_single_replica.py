"""On one replica, reductions leave the program and nothing else changes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd


def _sum(x):
    return jax.lax.psum(x, "replica")


@jax.custom_vjp
def _doubled(x):
    return _sum(2 * x)


_doubled.defvjp(lambda x: (_doubled(x), None), lambda _, g: (_sum(2 * g),))

STEPS = {
    "sum, max, min": lambda x: [jax.lax.pmax(x, "replica"), jax.lax.pmin(_sum(x), "replica")],
    "several operands": lambda x: jax.lax.psum({"a": x, "b": (x + 1, 3.0)}, "replica"),
    "sum of a constant": lambda x: (_sum(1.0), _sum(x) + _sum(1)),
    "scan": lambda x: jax.lax.scan(lambda c, r: (_sum(c + r), _sum(r)), jnp.zeros(2), x),
    "while": lambda x: jax.lax.while_loop(lambda c: _sum(c).sum() < 99.0, lambda c: 2 * c, x + 1),
    "cond": lambda x: jax.lax.cond(_sum(x).sum() > 0, _sum, lambda x: x - 1, x),
    "lookup": lambda x: _sum(x)[jnp.array([2, 0]), jnp.array([1, 1])],
    "convolution": lambda x: _sum(jnp.convolve(x[:, 0], x[:, 1])),
    "jit": lambda x: jax.jit(_sum)(x * 3),
    "gradient": lambda x: jax.grad(lambda y: (_doubled(y) ** 2).sum())(x),
    "checkpoint": lambda x: jax.grad(lambda y: jax.checkpoint(_sum)(y).sum())(x),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_reduction_over_one_replica_is_its_operand(name):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    step = spmd.Step(STEPS[name], spmd.make_mesh(["cpu:0"]))
    plain = jax.jit(
        jax.shard_map(
            STEPS[name],
            mesh=step.mesh,
            in_specs=jax.sharding.PartitionSpec(),
            out_specs=jax.sharding.PartitionSpec(),
            check_vma=False,
        )
    )
    expected = plain(x)
    assert "all_reduce" in plain.lower(x).as_text(), "or there is nothing to show"
    jax.tree.map(np.testing.assert_array_equal, step(x), expected)
    program = step.lower(x)
    assert "all-reduce" not in program.hlo
    assert program.collectives, "the step as written still has its collectives"


def test_collectives_that_are_no_reductions_stay():
    step = spmd.Step(spmd.replica.all_gather, spmd.make_mesh(["cpu:0"]))
    np.testing.assert_array_equal(step(np.arange(2.0)), np.arange(2.0))


def test_several_replicas_keep_their_reductions():
    step = spmd.Step(lambda x: _sum(x), spmd.make_mesh(["cpu:0", "cpu:1"]))
    x = np.float32(1)  # a number of Python would be a constant, and its sum, too
    assert float(step(x)) == 2.0
    assert "all-reduce" in step.lower(x).hlo
