"""Computing arrays at once while a program is traced."""

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

import spmd
from spmd.replica import computing_at_once


def test_what_a_replica_computes_at_once_is_an_array(mesh_of):
    seen = []

    def step(x):
        with computing_at_once():
            seen.extend([jnp.arange(3) * 2, x + 1])
        return x + seen[0]

    result = spmd.Step(step, mesh_of(2))(np.int32(1))
    np.testing.assert_array_equal(result, [1, 3, 5])
    np.testing.assert_array_equal(seen[0], [0, 2, 4])
    assert isinstance(seen[1], Tracer)  # of the step's argument


def test_outside_of_steps_it_changes_nothing():
    with computing_at_once():
        assert jnp.arange(3).tolist() == [0, 1, 2]
