"""Tensors that train when they are fetched."""

import jax.numpy as jnp

from frontends import tf
from frontends.tf.contrib.fetching import fetched_with
from frontends.tf.graph import Graph


def test_an_operation_runs_with_a_tensor():
    variable = tf.Variable(0.0)
    with Graph().as_default() as graph:
        found = fetched_with(variable.assign_add(1.0), jnp.ones(()), "loss")
    assert (float(variable), float(found)) == (0, 1)
    graph.run(found)
    assert float(variable) == 1
    assert graph.fetchable("loss:0") is found
    assert fetched_with(None, 3, "loss") == 3
