"""Shapes of what replicas exchange."""

import jax
import jax.numpy as jnp

from spmd.replica import BlockShapes
from spmd.replica.blocks import blocks_of_all


def test_a_replica_takes_the_others_to_be_as_it_is_until_it_knows():
    shapes = BlockShapes()
    assert shapes.of_all((2, 3), 3) == ((2, 3),) * 3
    later = BlockShapes(known=[((2, 3), (1, 3), (0, 3))])
    assert later.of_all((1, 3), 3) == ((2, 3), (1, 3), (0, 3))
    assert later.of_all((5,), 2) == ((5,), (5,))
    assert later.asked == [(1, 3), (5,)]


def test_blocks_have_the_shapes_that_are_known():
    def step(x):
        shapes = BlockShapes(known=[((2,), (1,))])
        blocks = blocks_of_all(x, shapes, "replica", 2)
        gradient = jax.grad(
            lambda x: jnp.concatenate(blocks_of_all(x, BlockShapes(), "replica", 2)).sum()
        )(x)
        return [*blocks, gradient]

    closed = jax.make_jaxpr(step, axis_env=[("replica", 2)])(jnp.ones(1))
    assert [out.aval.shape for out in closed.jaxpr.outvars] == [(2,), (1,), (1,)]
